// O_APPEND is a property of an open file that a program may change at any time: its state at the write counts.

import Foundation
import Support
import Testing

@Suite struct AppendTests {
    /// Changes the flag of open files in every way and prints the contents of the files then.
    private static let script = """
        import fcntl, mmap, os, sys
        os.chdir(sys.argv[1])
        def put(name, data):
            with open(name, "wb") as file: file.write(data)
        def show(title, name):
            with open(name, "rb") as file: data = file.read()
            print(title, len(data), data[:60])
        for size in (5, 2 << 20):
            for access in (os.O_WRONLY, os.O_RDWR):
                title = f"{size} {access}"
                put("taken", b"hello" + b"." * (size - 5))
                file = os.open("taken", access | os.O_APPEND)
                os.write(file, b"+one")
                fcntl.fcntl(file, fcntl.F_SETFL, 0)
                print(os.pwrite(file, b"J", 0), os.lseek(file, 0, os.SEEK_CUR) == size + 4)
                os.write(file, b"+two")
                fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
                os.pwrite(file, b"+three", 1)
                os.close(file)
                show("taken away " + title, "taken")
                put("given", b"hello" + b"." * (size - 5))
                file = os.open("given", access)
                os.pwrite(file, b"H", 0)
                fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
                os.pwrite(file, b"+one", 0), os.write(file, b"+two")
                os.close(file)
                show("given " + title, "given")
                put("whole", b"hello" + b"." * (size - 5))
                file = os.open("whole", access | os.O_APPEND)
                os.write(file, b"+" * (3 << 20))
                os.close(file)
                show("whole " + title, "whole")
        file = os.open("new", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        os.write(file, b"hello"), fcntl.fcntl(file, fcntl.F_SETFL, 0), os.pwrite(file, b"J", 0), os.close(file)
        show("new", "new")
        put("mapped", b"." * 6000)
        file = os.open("mapped", os.O_RDWR | os.O_APPEND)
        with mmap.mmap(file, 6000) as memory:
            memory[10:16] = b"stored"
            memory.flush()
            memory[20:26] = b"stored"
        os.close(file)
        show("mapped", "mapped")
        """

    private func outcomes(in directory: String, asUser user: UInt32?) throws -> String {
        try mustRun("/usr/bin/python3", ["-B", "-c", Self.script, directory], asUser: user, seconds: 60).text
    }

    @Test("What is written goes where it would on the file system below", arguments: [nil, 65534] as [UInt32?])
    func sameAsBelow(user: UInt32?) throws {
        let bare = try Workplace.fresh("bare")
        if let user { chown(bare, user, user) }
        let expected = try outcomes(in: bare, asUser: user)
        #expect(expected.contains("taken away 5 1 19 b'Jello+one+two+three'"), "\(expected)")
        try withContainer(named: "append", asUser: user) { container in
            let found = try outcomes(in: container.path, asUser: user)
            return (found == expected ? [] : ["below:\n\(expected)\non the mount:\n\(found)"])
                + (try container.checkFindings(asUser: user))
        }
        _ = try run("rm", ["-rf", bare])
    }

    @Test("What is written inside a file that was opened to append is no appending: the older content stays")
    func olderContent() throws {
        try withContainer(files: ["there": "there\n"]) { container in
            try container.put("saved\n", at: "saved")
            let script = """
                import fcntl, os, sys
                for name in sys.argv[1:]:
                    file = os.open(name, os.O_WRONLY | os.O_APPEND)
                    os.write(file, b"more")
                    fcntl.fcntl(file, fcntl.F_SETFL, 0)
                    os.pwrite(file, b"X", 0)
                    os.close(file)
                """
            try mustRun("/usr/bin/python3", ["-c", script, container.file("there"), container.file("saved")])
            var problems: [String] = []
            for (name, live, old) in [("there", "Xhere\nmore", "there\n"), ("saved", "Xaved\nmore", "saved\n")] {
                let text = container.text(of: name) ?? "gone"
                if text != live { problems.append("\(name) is \(text)") }
                let kept = try shell("cat .versions/\(name)/history/*", in: container.path).text
                if kept + "\n" != old { problems.append("of \(name) was kept: \(kept)") }
            }
            return problems + (try container.checkFindings())
        }
    }

    @Test("Appenders of every kind, side by side, lose no line")
    func sideBySide() throws {
        let script = """
            import fcntl, os, sys
            kind, path = sys.argv[1:]
            access = os.O_RDWR if kind == "both" else os.O_WRONLY
            file = os.open(path, access | (0 if kind == "later" else os.O_APPEND))
            if kind == "later": fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
            for number in range(400): os.write(file, f"{kind} {number}\\n".encode())
            """
        try withContainer(files: ["log": "begin\n"]) { container in
            let kinds = ["early", "both", "later", "again"]
            let children = try kinds.map {
                try Child(.init("/usr/bin/python3", ["-c", script, $0, container.file("log")]))
            }
            let statuses = try children.map { try $0.wait(.after(seconds: 60)) }
            guard statuses.allSatisfy({ $0 == 0 }) else { return ["the appenders ended with \(statuses)"] }
            let lines = (container.text(of: "log") ?? "").split(separator: "\n").map(String.init)
            let expected = ["begin"] + kinds.flatMap { kind in (0..<400).map { "\(kind) \($0)" } }
            return (lines.sorted() == expected.sorted() ? [] : ["\(lines.count) lines of \(expected.count)"])
                + (try container.checkFindings())
        }
    }
}
