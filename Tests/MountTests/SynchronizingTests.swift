// What synchronizing through the mount reaches. The kernel keeps syncfs(2) from file systems in user space
// (docs/posix.md), so what is dirty is looked at beneath the mount, with cachestat(2).

import Foundation
import Support
import Testing

@Suite struct SynchronizingTests {
    /// Writes a file through the mount and prints how many of its pages are not on the disk: after syncfs(2) of the
    /// mount, and after fsync(2); then, of a file beneath, before and after syncfs(2) there. `none` where that cannot
    /// be known.
    private static let script = """
        import ctypes, os, sys
        mount, beneath = sys.argv[1:]
        call = ctypes.CDLL(None, use_errno=True)
        class Range(ctypes.Structure):
            _fields_ = [("start", ctypes.c_uint64), ("length", ctypes.c_uint64)]
        class Pages(ctypes.Structure):
            _fields_ = [(name, ctypes.c_uint64) for name in ("cached", "dirty", "writing", "evicted", "recent")]
        def dirty(file):
            pages = Pages()
            if call.syscall(451, file, ctypes.byref(Range(0, 0)), ctypes.byref(pages), 0) != 0:
                print("none"); sys.exit()
            return pages.dirty + pages.writing
        def written(directory, name):
            with open(directory + "/" + name, "wb") as file: file.write(os.urandom(4 << 20))
            return os.open(directory + "/" + name, os.O_RDWR)
        def synchronize(directory):
            file = os.open(directory, os.O_RDONLY)
            if call.syncfs(file) != 0: sys.exit("syncfs: " + os.strerror(ctypes.get_errno()))
            os.close(file)
        through = written(mount, "x")
        below = os.open(beneath + "/x", os.O_RDONLY)
        synchronize(mount)
        left = dirty(below)
        os.fsync(through)
        kept = dirty(below)
        bare = written(beneath, "y")
        before = dirty(bare)
        synchronize(beneath)
        print(left, kept, before, dirty(bare)) if before else print("none")
        """

    @Test("syncfs(2) of the mount reaches nothing, fsync(2) the file: as docs/posix.md says")
    func wholeFileSystem() throws {
        try Place.with { place in
            mkdir(place.path + "/m", 0o755)
            let mounted = try place.ctl("mount", "c", "m", "-o", "source-open")
            guard mounted.status == 0 else { throw Failure("mount: \(mounted.errors)") }
            // The kernel may write pages by itself at any moment: once is enough to see that syncfs(2) has not.
            var seen: [[Int]] = []
            for _ in 0..<5 where !seen.contains(where: { $0[0] > 0 }) {
                let output = try mustRun(
                    "/usr/bin/python3", ["-B", "-c", Self.script, place.path + "/m", place.path + "/c"])
                let numbers = output.text.split(separator: " ").compactMap { Int($0) }
                guard numbers.count == 4 else { break }
                #expect(numbers[1] == 0 && numbers[3] == 0, "\(output.text)")
                seen.append(numbers)
            }
            #expect(
                seen.isEmpty || seen.contains { $0[0] > 0 },
                "the kernel has learned syncfs(2) for FUSE: docs/posix.md and decisions/0003 are to be mended: \(seen)")
            try place.unmount("m")
        }
    }
}
