// A program in a process of its own that takes part in coordination as a test tells it to.

import Foundation

/// A running CoordinationActor. Belongs to one thread at a time.
public final class CoordinationProcess {
    private let child: Child
    private let requests: Int32
    private let answers: Int32
    private var received: [UInt8] = []
    /// What it has said and nobody has waited for.
    public private(set) var lines: [String] = []

    /// - Parameters:
    ///   - state: where it keeps the key of purposes; nil: where the tests' own is.
    ///   - isMeasured: the one that was built for release, beside the daemon.
    public init(state: String? = nil, isMeasured: Bool = false) throws {
        let (requestEnd, requests) = try makePipe()
        let (answers, answerEnd) = try makePipe()
        defer {
            close(requestEnd)
            close(answerEnd)
        }
        let directory = isMeasured ? (Workplace.daemon as NSString).deletingLastPathComponent : Workplace.products
        var start = Child.Start(directory + "/CoordinationActor")
        start.directory = "/"
        start.environment = ["XDG_STATE_HOME": state ?? Workplace.root + "/coordination-state"]
        start.descriptors = [requestEnd, answerEnd, 2]
        child = try Child(start)
        (self.requests, self.answers) = (requests, answers)
    }

    deinit {
        child.kill()
        close(requests)
        close(answers)
    }

    public var pid: Int32 { child.pid }

    /// Gives it something to do, and goes on.
    public func begin(_ request: String) throws { try writeAll(Array((request + "\n").utf8), to: requests) }

    /// Waits until it says a line that begins like this, and gives the line. Lines before it stay.
    @discardableResult
    public func hear(_ beginning: String, within seconds: Double = 30) throws -> String {
        let deadline = Deadline.after(seconds: seconds)
        while true {
            if let index = lines.firstIndex(where: { $0.hasPrefix(beginning) }) { return lines.remove(at: index) }
            guard deadline.poll([(answers, POLLIN)]) != nil else {
                throw Failure("the actor did not say \(beginning); it said \(lines)")
            }
            let bytes = try readSome(from: answers)
            guard !bytes.isEmpty else { throw Failure("the actor has gone; it said \(lines)") }
            received += bytes
            while let end = received.firstIndex(of: 10) {
                lines.append(String(decoding: received[..<end], as: UTF8.self))
                received.removeSubrange(...end)
            }
        }
    }

    /// Gives it something to do and waits for a line.
    @discardableResult
    public func ask(_ request: String, _ beginning: String = "done") throws -> String {
        try begin(request)
        return try hear(beginning)
    }

    public func signal(_ number: Int32) { child.signal(number) }
    public func kill() { child.kill() }
}
