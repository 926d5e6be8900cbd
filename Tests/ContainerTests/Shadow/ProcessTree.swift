// Processes of a story, some of them shells at terminals.

import Glibc
import Support
import Testing

/// A process of a tree.
struct TreeProcess {
    /// The position of its parent; nil for a process that a test starts.
    var parent: Int?
    /// Whether it leads a session with a terminal of its own, as a shell in a window does.
    var leadsTerminal = false

    static let shell = TreeProcess(leadsTerminal: true)

    static func child(of parent: Int) -> TreeProcess { TreeProcess(parent: parent) }
}

/// Runs a test with a tree of processes, which do nothing by themselves.
func withProcesses(_ processes: [TreeProcess], _ body: ([pid_t]) throws -> Void) throws {
    let script = """
        import os, pty, sys, time
        out = os.dup(1)
        parents, leaders = ([int(word) for word in text.split()] for text in sys.argv[1:3])
        def run(index):
            if index >= 0:
                os.write(out, f"{index} {os.getpid()}\\n".encode())
            for child, parent in enumerate(parents):
                if parent == index and (pty.fork()[0] if child in leaders else os.fork()) == 0:
                    run(child)
            time.sleep(3600)
        run(-1)
        """
    let parents = processes.map { "\($0.parent ?? -1)" }.joined(separator: " ")
    let leaders = processes.indices.filter { processes[$0].leadsTerminal }.map { "\($0)" }.joined(separator: " ")
    let (reading, writing) = try makePipe()
    defer { for end in [reading, writing] { close(end) } }
    var start = Child.Start("/usr/bin/python3", ["-c", script, parents, leaders])
    start.descriptors = [0, writing, 2]
    let root = try Child(start)
    var people: [Int: pid_t] = [:]
    defer {
        for person in people.values { _ = kill(person, SIGKILL) }
        root.kill()
    }
    var text = ""
    while text.count(where: { $0 == "\n" }) < processes.count {
        guard Deadline.after(seconds: 30).poll([(reading, POLLIN)]) != nil else { throw Failure("processes: \(text)") }
        text += String(decoding: try readSome(from: reading), as: UTF8.self)
    }
    for line in text.split(separator: "\n") {
        let words = line.split(separator: " ")
        if let index = words.first.flatMap({ Int($0) }), let process = words.last.flatMap({ pid_t($0) }) {
            people[index] = process
        }
    }
    try body(try processes.indices.map { try #require(people[$0]) })
}

/// What cron runs, as three jobs: a shell and its child (0, 1), a shell (3), a shell and its child (4, 5). Beside it an
/// editor (2) and another program (6).
func withCron(_ body: ([pid_t]) throws -> Void) throws {
    let (cron, editor) = (try ActorProcess("cron", in: "/"), try ActorProcess("editor", in: "/"))
    let other = try ActorProcess("other", in: "/")
    func start(_ words: [String]) throws -> pid_t {
        try cron.begin(words[0], Array(words.dropFirst()))
        guard case .done(let values) = try cron.finish(), let process = values.first.flatMap({ pid_t($0) }) else {
            throw Failure("cron does not \(words)")
        }
        return process
    }
    let first = [try start(["spawn", "first"]), try start(["to", "first", "spawn", "sed"])]
    let second = try start(["spawn", "second"])
    let third = [try start(["spawn", "third"]), try start(["to", "third", "spawn", "mv"])]
    try body(first + [editor.pid, second] + third + [other.pid])
    withExtendedLifetime((cron, editor, other)) {}
}
