// Programs that keep files open, in a mount over the engine: what they write becomes versions without a close.

import CTestSupport
import Foundation
import Support
import Testing

@Suite("The engine: files that stay open")
struct EngineWritersTests {
    private func withEngine(
        _ files: [String: String] = [:], _ body: (TestContainer) throws -> [String]
    ) throws {
        try withContainer(
            named: "open", files: files, environment: ["VERSIONSFS_ENGINE": "1"], level: .mounted, body: body)
    }

    /// The former contents of a file, oldest first, as the mount shows them.
    private func former(_ name: String, _ container: TestContainer) throws -> [String] {
        let line = "for x in .versions/\(name)/history/*; do [ -e \"$x\" ] && cat \"$x\" && echo; done; true"
        return try shell(line, in: container.path).text.split(separator: "\n").map(String.init)
    }

    /// Waits until the former contents are these, as long as a busy machine may take.
    private func expect(_ expected: [String], of name: String, _ container: TestContainer) throws -> [String] {
        let deadline = Deadline.after(seconds: 60)
        var found = try former(name, container)
        while found != expected, !deadline.isOver {
            _ = Deadline.after(seconds: 0.1).poll([])
            found = try former(name, container)
        }
        return found == expected ? [] : ["\(name) was \(found), not \(expected)"]
    }

    @Test("What a program writes is a version once it is quiet, whichever way it writes", arguments: ["", "big"])
    func quiet(_ kind: String) throws {
        let filler = String(repeating: "x", count: kind == "big" ? 2 << 20 : 0)
        try withEngine(["f": "zero" + filler]) { container in
            let program = try ActorProcess("program", in: container.path)
            try program.must("open", "f", "f", "rw")
            try program.must("write", "f", "one", "0")
            let line = "head -c 4 .versions/f/history/* 2>/dev/null || true"
            let deadline = Deadline.after(seconds: 60)
            while try shell(line, in: container.path).text != "zero", !deadline.isOver {
                _ = Deadline.after(seconds: 0.1).poll([])
            }
            // The version from before the next write is not overwritten by it.
            try program.must("write", "f", "two", "0")
            try program.must("close", "f")
            let all = "for x in .versions/f/history/*; do head -c 4 $x; echo; done; head -c 4 f"
            let found = try shell(all, in: container.path).text
            return found == "zero\noneo\ntwoo" ? [] : ["found \(found)"]
        }
    }

    @Test("A temporary file that was kept while it was open leaves nothing when its program removes it")
    func temporary() throws {
        try withEngine { container in
            let program = try ActorProcess("program", in: "/")
            let name = container.file("new.tmp.\(program.pid)")
            try program.must("open", "f", name, "w+creat")
            try program.must("write", "f", "one")
            try program.must("fsync", "f")
            try program.must("unlink", name)
            try program.must("close", "f")
            try container.unmount()
            let kept = try run("find", [container.path + "/.versionsfs/objects", "-type", "f"]).text
            return kept.isEmpty ? [] : ["kept: \(kept)"]
        }
    }

    @Test("A file comes back with the time that was set, also if a program had it open when it went")
    func openAndTouched() throws {
        try withEngine(["f": "zero"]) { container in
            try shell("echo one > f", in: container.path)
            let program = try ActorProcess("program", in: "/")
            try program.must("open", "f", container.file("f"), "w")
            try shell("touch -d 2020-01-02 f && rm f", in: container.path)
            try program.must("close", "f")
            let line = "\(Workplace.control) undelete f > /dev/null; date -r f +%F"
            let found = try shell(line, in: container.path).text
            return found == "2020-01-02" ? [] : ["f is of \(found)"]
        }
    }

    @Test(
        "A file over max-file that is removed or replaced while a program has it open comes back",
        arguments: ["rm f", "echo new > g && mv g f"])
    func openAndLarge(line: String) throws {
        let size = 3 << 20
        try withContainer(
            named: "open", environment: ["VERSIONSFS_ENGINE": "1"], settings: ["history.max-file": "1MiB"]
        ) { container in
            let program = try ActorProcess("program", in: "/")
            try program.must("open", "f", container.file("f"), "w+creat")
            try program.must("write", "f", "one")
            try program.must("fsync", "f")
            try shell("truncate -s \(size) f && \(line)", in: container.path)
            try program.must("close", "f")
            try container.unmount()
            let findings = try container.checkFindings()
            try container.mount()
            let back = line.hasPrefix("rm") ? "undelete" : "restore"
            let answer = try shell("\(Workplace.control) \(back) f", in: container.path)
            let found = try shell("stat -c %s f", in: container.path).text
            return findings + (found == "\(size)" ? [] : ["f has \(found) bytes: \(answer)"])
        }
    }

    @Test("What was synchronized is a version, also if the daemon is killed then, and a close goes on with it")
    func synchronized() throws {
        try withEngine(["f": "zero"]) { container in
            let program = try ActorProcess("program", in: "/")
            try program.must("open", "f", container.file("f"), "w")
            try program.must("write", "f", "once", "0")
            try program.must("fsync", "f")
            var problems = try expect(["zero"], of: "f", container)
            try program.must("write", "f", "more", "4")
            try program.must("close", "f")
            problems += try expect(["zero"], of: "f", container)
            try program.must("open", "f", container.file("f"), "w")
            try program.must("write", "f", "twice", "0")
            try program.must("fsync", "f")
            try container.kill()
            try container.mount()
            return problems + (try expect(["zero", "oncemore"], of: "f", container))
        }
    }

    @Test("A mapping whose handle writes by the daemon makes versions, too")
    func bigMapping() throws {
        // Too big to be kept when it is opened, so its writes do not pass through.
        try withEngine(["f": "zero" + String(repeating: "x", count: 2 << 20)]) { container in
            try container.unmount()
            let beneath = open(container.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(beneath) }
            try container.mount()
            func wait(_ line: String, for expected: String) throws -> [String] {
                let deadline = Deadline.after(seconds: 60)
                var found = ""
                while found != expected, !deadline.isOver {
                    found = try shell(line, in: container.path).text
                    _ = Deadline.after(seconds: 0.1).poll([])
                }
                return found == expected ? [] : ["\(line): \(found), not \(expected)"]
            }
            let program = try ActorProcess("program", in: container.path)
            try program.must("open", "f", "f", "rw")
            try program.must("map", "m", "f", "8192")
            try program.must("close", "f")
            // From then on no store is lost.
            let objects = "/proc/\(getpid())/fd/\(beneath)/.versionsfs/objects"
            var problems = try wait("find \(objects) -type f | wc -l", for: "1")
            try program.must("store", "m", "0", "1111")
            problems += try wait(
                "for x in .versions/f/history/*; do [ -e $x ] && head -c 4 $x; done; head -c 4 f", for: "zero1111")
            try program.must("unmap", "m")
            return problems
        }
    }

    // MARK: Files without a name

    private func python(_ script: String, in container: TestContainer) throws -> [String] {
        let output = try run("/usr/bin/python3", ["-B", "-c", "import os\n" + script], in: container.path, seconds: 60)
        return output.status == 0 ? [] : ["\(output.text) \(output.errors)"]
    }

    @Test("A file that is made without a name has all its writers once it has one")
    func namelessWriters() throws {
        try withEngine { container in
            let problems = try python(
                """
                one = os.open('.', os.O_TMPFILE | os.O_RDWR)
                os.write(one, b'one ')
                two = os.open(f'/proc/self/fd/{one}', os.O_WRONLY)
                os.link(f'/proc/self/fd/{one}', 'f', src_dir_fd=one, follow_symlinks=True)
                os.close(one)
                os.pwrite(two, b'two', 4)
                os.close(two)
                """, in: container)
            let text = container.text(of: "f") ?? "gone"
            return problems + (text == "one two" ? [] : ["f is \(text)"])
                + (try expect(["one "], of: "f", container))
        }
    }

    @Test("A file without a name that is opened again has versions, and nothing that was kept of it changes")
    func openedAgain() throws {
        try withEngine(["f": "first", "g": "other", "h": "third"]) { container in
            let problems = try python(
                """
                for name in ('f', 'g'):
                    file = os.open(name, os.O_RDONLY)
                    if name == 'f': os.unlink(name)
                    else: os.rename('h', name)
                    again = os.open(f'/proc/self/fd/{file}', os.O_RDWR)
                    os.pwrite(again, b'FIRST', 0)
                    if os.pread(file, 9, 0) != b'FIRST': raise SystemExit(f'{name} is not written')
                    os.close(again)
                    os.close(file)
                """, in: container)
            // What lost its name to another file goes on beside that file's history.
            let line = "cat .versions/.deleted/f .versions/f/history/* .versions/g/history/* g"
            let found = try shell(line, in: container.path).text
            return problems + (found == "FIRSTfirstotherFIRSTthird" ? [] : ["found \(found)"])
        }
    }
}
