// Fifty writers, twenty subscribers: each hears of every change once and in order, and none holds up another.

import Foundation
import Support
import Testing

@Suite(.serialized) struct ManyEventsTests {
    static let writers = 50
    static let subscribers = 20

    /// Someone who watches.
    private final class Subscriber {
        let place: String
        var socket: ControlSocket
        var sequences: [UInt64] = []
        var paths: [String: Int] = [:]
        var isDone = false

        init(_ container: TestContainer, _ place: String, after sequence: UInt64) throws {
            self.place = place
            socket = try ControlSocket(of: container)
            try watch(after: sequence)
        }

        func watch(after sequence: UInt64) throws {
            let parameters: [String: Any] = ["target": ["path": place], "after": sequence]
            _ = try socket.answer(to: socket.begin("watch", parameters))
        }

        /// Takes what has come, at most so many messages; done once it has heard of the end.
        func take(_ most: Int = .max, until end: String) throws {
            var taken = 0
            while !isDone, taken < most, try socket.hasMore() {
                let message = try socket.next()
                taken += 1
                guard message["method"] as? String == "events",
                    let events = (message["params"] as? [String: Any])?["events"] as? [[String: Any]]
                else {
                    if message["method"] as? String == "watchEnded" { throw Failure("cut off: \(message)") }
                    continue
                }
                for event in events {
                    let path = event["path"] as? String ?? ""
                    sequences.append((event["sequence"] as? NSNumber)?.uint64Value ?? 0)
                    if event["event"] as? String == "saved" { paths[path, default: 0] += 1 }
                    if path == end, event["event"] as? String == "deleted" { isDone = true }
                }
            }
        }

        var isInOrder: Bool { zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 } }
    }

    @Test("every subscriber sees every change once and in order; a slow one holds up nobody and is resumed by sequence")
    func everyChange() throws {
        let rounds = Workplace.count(200)
        try withContainer(named: "events", files: ["begin": "1"], seconds: 300) { container in
            guard container.isVersioned else { return [] }
            try shell("mkdir d; for i in $(seq \(Self.writers)); do : > d/w$i; done", in: container.path)
            let begin: UInt64 = 0
            // The whole tree, the directory, or one file.
            let subscribers = try (0..<Self.subscribers).map { number in
                try Subscriber(container, number % 3 == 0 ? "" : number % 3 == 1 ? "d" : "d/w\(number)", after: begin)
            }
            let slow = try Subscriber(container, "", after: begin)
            let before = residentBytes(of: container)
            let writing = Child.Start("bash", ["-c", """
                for w in $(seq \(Self.writers)); do
                  (for i in $(seq \(rounds)); do echo $i > d/w$w; done) &
                done
                wait
                for w in $(seq \(Self.writers)); do rm d/w$w; done
                rmdir d
                """])
            var start = writing
            start.directory = container.path
            let child = try Child(start)
            let deadline = Deadline.after(seconds: 250)
            var revived: Subscriber?
            while !subscribers.allSatisfy(\.isDone) {
                if deadline.isOver { throw Failure("not all has come: \(subscribers.map(\.sequences.count))") }
                for subscriber in subscribers {
                    try subscriber.take(
                        50, until: subscriber.place.isEmpty || subscriber.place == "d" ? "d" : subscriber.place)
                }
                // One dies in between, and comes back with the last number it has seen.
                if revived == nil, subscribers[0].sequences.count > rounds {
                    subscribers[0].socket = try ControlSocket(of: container)
                    try subscribers[0].watch(after: subscribers[0].sequences.last ?? 0)
                    revived = subscribers[0]
                }
            }
            let status = try child.wait(deadline)
            let grown = residentBytes(of: container) - before
            var problems: [String] = []
            if status != 0 { problems.append("the writers ended with \(status)") }
            if revived == nil { problems.append("nobody was revived") }
            if grown > 64 << 20 { problems.append("the daemon has grown by \(grown >> 20) MiB") }
            // The slow one has read nothing so far; it takes a little, is cut off, and goes on where it was.
            try slow.take(1, until: "d")
            slow.socket = try ControlSocket(of: container)
            try slow.watch(after: slow.sequences.last ?? 0)
            while !slow.isDone {
                if deadline.isOver { throw Failure("the slow one is not done") }
                try slow.take(until: "d")
            }
            for subscriber in subscribers + [slow] {
                if !subscriber.isInOrder { problems.append("\(subscriber.place): not in order, or twice") }
                let files = subscriber.place.hasPrefix("d/")
                    ? [subscriber.place] : (1...Self.writers).map { "d/w\($0)" }
                for file in files where subscriber.paths[file] != rounds + 1 {
                    problems.append(
                        "\(subscriber.place): of \(file) \(subscriber.paths[file] ?? 0) saves, not \(rounds + 1)")
                }
            }
            print("ManyEventsTests: \(Self.writers) writers, \(rounds) saves each, grown by \(grown >> 10) KiB")
            return problems
        }
    }

    /// A client in a process of its own, `versionsctl watch`, and what it has said in whole lines.
    private final class Watcher {
        private let child: Child
        private let output: Int32
        private var received: [UInt8] = []

        init(_ container: TestContainer, _ place: String, after sequence: UInt64) throws {
            let (output, writing) = try makePipe()
            defer { close(writing) }
            var start = Child.Start(Workplace.control, ["watch", place, "--json", "--after", "\(sequence)"])
            start.directory = container.path
            start.descriptors = [0, writing, 2]
            child = try Child(start)
            self.output = output
        }

        deinit {
            child.kill()
            close(output)
        }

        func next(_ deadline: Deadline) throws -> [String: Any] {
            while true {
                if let end = received.firstIndex(of: 10) {
                    defer { received.removeSubrange(...end) }
                    return try JSONSerialization.jsonObject(with: Data(received[..<end])) as? [String: Any] ?? [:]
                }
                guard deadline.poll([(output, POLLIN)]) != nil else { throw Failure("the watcher says no more") }
                let bytes = try readSome(from: output)
                if bytes.isEmpty { throw Failure("the watcher has ended") }
                received += bytes
            }
        }
    }

    @Test(
        """
        a client that is killed and started again, from the last change that it told, misses nothing and repeats nothing
        """)
    func killedClient() throws {
        let rounds = Workplace.count(1000)
        try withContainer(named: "killed", seconds: 300) { container in
            guard container.isVersioned else { return [] }
            var start = Child.Start("bash", ["-c", """
                mkdir d
                for w in 1 2 3 4; do (for i in $(seq \(rounds)); do echo $i > d/w$w; done) & done
                wait
                echo > d/end
                """])
            start.directory = container.path
            let writers = try Child(start)
            let deadline = Deadline.after(seconds: 250)
            var (last, kills, isDone): (UInt64, Int, Bool) = (0, 0, false)
            var (sequences, saved): ([UInt64], [String: Int]) = ([], [:])
            while !isDone {
                // The last one is let live; the others go while they tell, and with them what nobody has read.
                let watcher = try Watcher(container, ".", after: last)
                var left = kills < 20 ? Int.random(in: 1...rounds / 10) : Int.max
                while left > 0, !isDone {
                    left -= 1
                    let event = try watcher.next(deadline)
                    last = (event["sequence"] as? NSNumber)?.uint64Value ?? 0
                    sequences.append(last)
                    let path = event["path"] as? String ?? ""
                    if event["event"] as? String == "saved" { saved[path, default: 0] += 1 }
                    isDone = path == "d/end"
                }
                kills += 1
            }
            var problems = try writers.wait(deadline) == 0 ? [] : ["the writers failed"]
            if kills < 5 { problems.append("only \(kills) clients") }
            if !zip(sequences, sequences.dropFirst()).allSatisfy({ $0 < $1 }) {
                problems.append("not in order, or twice")
            }
            for writer in 1...4 where saved["d/w\(writer)"] != rounds {
                problems.append("\(saved["d/w\(writer)"] ?? 0) saves of w\(writer), not \(rounds)")
            }
            return problems
        }
    }

    private func residentBytes(of container: TestContainer) -> Int {
        guard let pid = container.daemon?.pid,
            let text = try? String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return pages * 4096
    }
}
