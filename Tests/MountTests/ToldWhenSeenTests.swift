// A program that hears of a change finds it in the tree at once.

import Foundation
import Support
import Testing

@Suite("What is told can be seen", .serialized, .timeLimit(.minutes(3))) struct ToldWhenSeenTests {
    /// A program that does to files what it reads, beside one that keeps it from running: the kernel shows what a
    /// system call has done when its program runs again, which may be long after the daemon's answer. The two are of
    /// one session, for a session may have a share of the processor of its own.
    private static let script = """
        import os, signal, sys
        os.sched_setaffinity(0, {0})
        rival = os.fork()
        if rival == 0: signal.alarm(100)
        while rival == 0: pass
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        for line in sys.stdin:
            verb, *names = line.split()
            if verb == "save":
                with open(names[0], "w") as file: file.write(names[1])
            else:
                getattr(os, verb)(*names)
        os.kill(rival, 9)
        os.wait()
        """

    private func withSlowWriter(_ body: (TestContainer, (String) throws -> Void, ControlSocket) throws -> [String])
        throws {
        try withContainer(named: "seen") { container in
            guard container.isVersioned else { return [] }
            let (reading, writing) = try makePipe()
            var start = Child.Start("/usr/bin/python3", ["-u", "-c", Self.script])
            (start.directory, start.descriptors) = (container.path, [reading, 1, 2])
            let writer = try Child(start)
            close(reading)
            let socket = try ControlSocket(of: container)
            _ = try socket.answer(to: socket.begin("watch", ["target": ["path": ""]]))
            let problems = Result { try body(container, { try writeAll(Array("\($0)\n".utf8), to: writing) }, socket) }
            close(writing)
            let status = try writer.wait(.after(seconds: 30))
            return try problems.get() + (status == 0 ? [] : ["the writer ended with \(status)"])
        }
    }

    /// Waits for an event.
    private func wait(for event: String, of path: String, _ socket: ControlSocket) throws {
        while true {
            let parameters = try socket.next()["params"] as? [String: Any]
            let events = parameters?["events"] as? [[String: Any]] ?? []
            if events.contains(where: { $0["event"] as? String == event && $0["path"] as? String == path }) { return }
        }
    }

    @Test("A name that something got by a rename can be opened")
    func renamed() throws {
        try withSlowWriter { container, perform, socket in
            try perform("save name0 text")
            var problems: [String] = []
            for number in 1...40 {
                try perform("rename name\(number - 1) name\(number)")
                try wait(for: "renamed", of: "name\(number)", socket)
                if container.text(of: "name\(number)") != "text" { problems.append("name\(number) cannot be read") }
            }
            return problems
        }
    }

    @Test("A file that was saved by a rename has the new content")
    func replaced() throws {
        try withSlowWriter { container, perform, socket in
            try perform("save f 0")
            try wait(for: "saved", of: "f", socket)
            var problems: [String] = []
            for number in 1...40 {
                try perform("save f.tmp\(number) \(number)")
                try perform("rename f.tmp\(number) f")
                try wait(for: "saved", of: "f", socket)
                let text = container.text(of: "f")
                if text != "\(number)" { problems.append("f holds \(text ?? "nothing"), and not \(number)") }
            }
            return problems
        }
    }

    @Test("A name that was removed is gone")
    func removed() throws {
        try withSlowWriter { container, perform, socket in
            var problems: [String] = []
            for number in 1...40 {
                try perform("save name\(number) text")
                try perform("unlink name\(number)")
                try wait(for: "deleted", of: "name\(number)", socket)
                if container.text(of: "name\(number)") != nil { problems.append("name\(number) is still there") }
            }
            return problems
        }
    }
}
