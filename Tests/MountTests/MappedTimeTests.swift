// The times of a file that is changed through a mapping: they have moved once msync(2) or munmap(2) returns.

import Foundation
import Support
import Testing

@Suite struct MappedTimeTests {
    /// Prints the times that did not move. Only the time that is asked for is looked at, as `stat -c %Y` and `make` do:
    /// a program that asks for the access time as well has all of them told anew.
    private static let script = """
        import ctypes, mmap, os, sys
        os.chdir(sys.argv[1])
        call = ctypes.CDLL(None, use_errno=True)
        def time(name, which):
            facts = ctypes.create_string_buffer(256)
            if call.statx(-100, name.encode(), 0, which, facts) != 0: sys.exit("statx")
            offset = {0x40: 112, 0x80: 96}[which]
            return facts.raw[offset:offset + 12]
        def times(name): return time(name, 0x40), time(name, 0x80)
        def look(title, name, before):
            for kind, old, new in zip(("mtime", "ctime"), before, times(name)):
                if old == new: print(f"{title}: {kind} has not moved")
        for closes in (False, True):
            for name in ("there", "new"):
                title = f"{name}, " + ("closed" if closes else "open")
                if name == "new" and os.path.exists("new"): os.unlink("new")
                elif name == "there":
                    os.utime(name, (1, 1))
                    times(name)
                file = os.open(name, os.O_RDWR | os.O_CREAT)
                if name == "new": os.ftruncate(file, 8192)
                if name == "new": os.utime(name, (1, 1))
                memory = mmap.mmap(file, 8192)
                if closes: os.close(file)
                before = times(name)
                memory[0] = 65
                memory.flush()
                look(title + ", msync", name, before)
                before = times(name)
                memory[1] = 66
                memory.close()
                look(title + ", munmap", name, before)
                if not closes: os.close(file)
        """

    @Test("mtime and ctime have moved", arguments: [nil, 65534] as [UInt32?])
    func moved(user: UInt32?) throws {
        let bare = try Workplace.fresh("bare")
        func missing(in directory: String) throws -> String {
            try mustRun("/usr/bin/python3", ["-B", "-c", Self.script, directory], asUser: user, seconds: 60).text
        }
        if let user { chown(bare, user, user) }
        let text = String(repeating: "o", count: 8192)
        try text.write(toFile: bare + "/there", atomically: false, encoding: .utf8)
        if let user { chown(bare + "/there", user, user) }
        let below = try missing(in: bare)
        #expect(below == "", "on the file system below: \(below)")
        try withContainer(named: "times", asUser: user, files: ["there": text]) { container in
            let found = try missing(in: container.path)
            return (found == "" ? [] : ["\(found)"]) + (try container.checkFindings(asUser: user))
        }
        _ = try run("rm", ["-rf", bare])
    }
}
