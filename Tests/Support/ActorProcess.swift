// An actor of a test: a process of its own that does to files what the test says, under the name of any program.

import Foundation

/// A running TestActor. It is started by a shell that leads a session with a controlling terminal, so that its lineage
/// ends there
/// and two actors of one test are strangers to one another, as programs in two terminals are.
///
/// Belongs to one thread at a time.
public final class ActorProcess {
    /// What a request came to: the values, or an errno.
    public enum Answer: Sendable, Equatable {
        case done([String])
        case failed(Int32)
    }

    /// The actor's own process id (not its shell's).
    public private(set) var pid: pid_t = 0
    public let program: String
    private let shell: Child
    private let requests: Int32
    private let answers: Int32
    private let master: Int32
    private var received: [UInt8] = []
    private let seconds: Double

    /// Starts an actor.
    ///
    /// - Parameters:
    ///   - program: what `/proc/PID/exe` says its program is called.
    ///   - directory: where relative paths begin.
    ///   - seconds: how long an answer may take.
    public init(
        _ program: String = "TestActor", in directory: String, asUser user: UInt32? = nil, seconds: Double = 30
    ) throws {
        self.program = program
        self.seconds = seconds
        let path = try Workplace.actor(named: program)
        let (master, slave) = try openTerminal(rows: 24, columns: 80)
        let (requestEnd, requests) = try makePipe()
        let (answers, answerEnd) = try makePipe()
        self.master = master
        self.requests = requests
        self.answers = answers
        // The last command keeps the shell from replacing itself by the actor. Nobody holds the terminal open but the
        // shell.
        var start = Child.Start("sh", ["-c", "\"$0\"; exit $?", path])
        start.directory = directory
        start.user = user
        start.descriptors = [requestEnd, answerEnd]
        start.terminal = slave
        do {
            defer {
                close(requestEnd)
                close(answerEnd)
            }
            start.descriptors.append(2)
            shell = try Child(start)
        } catch {
            for end in [requests, answers, master] { close(end) }
            throw error
        }
        pid = try pid_t(must("pid").first ?? "") ?? 0
    }

    /// Makes a request whose failure the test is interested in. Arguments may hold any characters.
    public func ask(_ verb: String, _ arguments: String...) throws -> Answer {
        try begin(verb, arguments)
        return try finish()
    }

    /// Makes a request that has to succeed. Returns its values, decoded.
    @discardableResult
    public func must(_ verb: String, _ arguments: String...) throws -> [String] {
        try begin(verb, arguments)
        switch try finish() {
        case .done(let values): return values
        case .failed(let code):
            let request = ([verb] + arguments.map { String($0.prefix(80)) }).joined(separator: " ")
            throw Failure("\(program): \(request): \(String(cString: strerror(code)))")
        }
    }

    /// Makes a request without waiting for its answer; ``finish(seconds:)`` takes it.
    public func begin(_ verb: String, _ arguments: [String]) throws {
        let line = ([verb] + arguments.map(ActorProcess.encoded)).joined(separator: " ") + "\n"
        try writeAll(Array(line.utf8), to: requests)
    }

    /// Whether the answer to what was begun is there, within a time: false means that the call is still blocked.
    public func hasAnswer(within seconds: Double) throws -> Bool {
        received.contains(10) || Deadline.after(seconds: seconds).poll([(answers, POLLIN)]) != nil
    }

    /// Waits for the answer to what was begun.
    public func finish(seconds: Double? = nil) throws -> Answer {
        let deadline = Deadline.after(seconds: seconds ?? self.seconds)
        while true {
            if let end = received.firstIndex(of: 10) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                received.removeSubrange(...end)
                let words = line.split(separator: " ")
                if words.first == "ok" { return .done(words.dropFirst().map(ActorProcess.decoded)) }
                guard words.count == 2, let code = Int32(words[1]) else { throw Failure("\(program) answered \(line)") }
                return .failed(code)
            }
            guard deadline.poll([(answers, POLLIN)]) != nil else {
                throw Failure("\(program) (pid \(pid)) does not answer", evidence: blockedWhere())
            }
            let bytes = try readSome(from: answers)
            guard !bytes.isEmpty else {
                throw Failure("\(program) (pid \(pid)) has gone, status \(shell.poll() ?? -1)")
            }
            received += bytes
        }
    }

    /// Carries out requests as lines, each of which has to succeed: `$f` and the like are replaced first.
    public func perform(_ lines: [String], replacing values: [String: String] = [:]) throws {
        for line in lines {
            let words = line.split(separator: " ").map { word in
                values.reduce(String(word)) { $0.replacing($1.key, with: $1.value) }
            }
            guard let verb = words.first else { continue }
            try begin(verb, Array(words.dropFirst()))
            if case .failed(let code) = try finish() {
                throw Failure("\(program): \(line): \(String(cString: strerror(code)))")
            }
        }
    }

    // MARK: What programs do

    /// Takes a document into its buffer: opens it for reading, reads all, closes it.
    @discardableResult
    public func load(_ path: String) throws -> String {
        try must("load", path).first ?? ""
    }

    /// Saves a buffer in place: O_TRUNC, write, close.
    public func save(_ text: String, to path: String) throws {
        try must("open", "save", path, "w+creat+trunc")
        if !text.isEmpty { try must("write", "save", text) }
        try must("close", "save")
    }

    /// Saves a buffer as agents do: `PATH.tmp.PID.HEX`, then a rename over the name.
    public func saveByRename(_ text: String, to path: String) throws {
        let temporary = "\(path).tmp.\(pid).\(String(UInt32.random(in: 0...UInt32.max), radix: 16))"
        try must("open", "save", temporary, "w+creat+excl")
        if !text.isEmpty { try must("write", "save", text) }
        try must("close", "save")
        try must("rename", temporary, path)
    }

    /// Kills the actor itself, not its shell.
    public func kill() {
        if pid > 0 { Foundation.kill(pid, SIGKILL) }
        _ = try? shell.wait(.after(seconds: 5))
    }

    /// What the kernel says that a silent actor is doing.
    private func blockedWhere() -> String {
        let names = ["wchan", "syscall", "status"]
        return names.map { name in
            let output = try? run("head", ["-c", "200", "/proc/\(pid)/\(name)"], seconds: 5)
            return "\(name): \(output?.text ?? "?")"
        }.joined(separator: "\n")
    }

    deinit {
        close(requests)
        close(answers)
        _ = try? shell.wait(.after(seconds: 5))
        // Only now: hanging up its terminal would end the shell before its actor has ended its children.
        close(master)
    }

    private static func encoded(_ word: String) -> String {
        var result = ""
        for byte in word.utf8 {
            let plain = (33...126).contains(byte) && byte != UInt8(ascii: "%")
            result += plain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return result
    }

    private static func decoded(_ word: Substring) -> String {
        var result: [UInt8] = []
        var rest = Array(word.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
                result.append(code)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
