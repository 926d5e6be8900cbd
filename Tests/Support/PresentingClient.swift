// A client that presents items, spoken by hand: it answers what it is asked, and remembers all that it is told.

import Foundation
import Glibc

/// A connection to a container's daemon with presenters and claims on it. A thread of its own reads and answers.
public final class PresentingClient: @unchecked Sendable {
    // Sendable because what the threads share is guarded by `changed`.

    /// What happens before a question is answered; what is thrown is the answer then.
    public typealias Handler = @Sendable (_ question: String) throws -> Void

    private let descriptor: Int32
    private let changed = NSCondition()
    private var log: [String] = []
    private var authors: [String] = []
    private var replies: [Int: [String: Any]] = [:]
    private var hasEnded = false
    private var next = 1
    private var names: [UInt64: String] = [:]
    /// What is being presented, by the call: changes may come right behind the answer.
    private var presenting: [Int: String] = [:]
    private let handler: Handler?
    private let answers: Bool

    /// - Parameters:
    ///   - answers: whether it answers at all.
    ///   - user: whose client it is; this process's own for nil.
    ///   - handler: called on the reading thread with `save`, `relinquish to writer`, `accommodate`.
    public init(
        of container: TestContainer, answers: Bool = true, asUser user: UInt32? = nil, answering handler: Handler? = nil
    ) throws {
        self.handler = handler
        self.answers = answers
        descriptor = try ControlSocket.connect(
            to: FileManager.default.destinationOfSymbolicLink(atPath: container.file(".versions/.socket")),
            asUser: user)
        let thread = Thread { [self] in readAll() }
        thread.start()
    }

    /// Ends the connection, and with it what it has.
    public func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    deinit { Glibc.close(descriptor) }

    /// Presents an item.
    /// - Parameter after: the last change that it has seen.
    /// - Returns: the presenter's number, its purpose, and the last change before.
    @discardableResult
    public func present(
        _ path: String, after: UInt64? = nil, purpose: String? = nil, subitems: Bool = false
    ) throws -> (presenter: UInt64, purpose: String, sequence: UInt64) {
        var parameters: [String: Any] = ["path": ["path": path]]
        if let after { parameters["after"] = after }
        if let purpose { parameters["purpose"] = purpose }
        if subitems { parameters["accommodatesSubitems"] = true }
        let reply = try call("present", parameters)
        guard let number = (reply["presenter"] as? NSNumber)?.uint64Value, let purpose = reply["purpose"] as? String,
            let sequence = (reply["sequence"] as? NSNumber)?.uint64Value
        else { throw Failure("present: \(reply)") }
        return (number, purpose, sequence)
    }

    /// Runs `body` under a claim.
    public func claim<Result>(
        _ mode: String, _ paths: [String], options: [String] = [], for presenter: UInt64? = nil,
        _ body: () throws -> Result
    ) throws -> Result {
        var parameters: [String: Any] = [
            "accesses": paths.map { ["mode": mode, "path": $0, "options": options] as [String: Any] }
        ]
        if let presenter { parameters["presenter"] = presenter }
        let reply = try call("claim", parameters)
        guard let claim = (reply["claim"] as? NSNumber)?.uint64Value else { throw Failure("claim: \(reply)") }
        let result = Swift.Result(catching: body)
        _ = try call("release", ["claim": claim])
        return try result.get()
    }

    /// Calls a method, which has to succeed.
    @discardableResult
    public func call(_ method: String, _ parameters: [String: Any]) throws -> [String: Any] {
        let number = changed.withLock {
            defer { next += 1 }
            if method == "present" { presenting[next] = (parameters["path"] as? [String: Any])?["path"] as? String }
            return next
        }
        try send(["id": number, "method": method, "params": parameters])
        let deadline = Date(timeIntervalSinceNow: 60)
        changed.lock()
        defer { changed.unlock() }
        while replies[number] == nil {
            guard !hasEnded, changed.wait(until: deadline) else { throw Failure("\(method): no answer") }
        }
        let reply = replies.removeValue(forKey: number) ?? [:]
        if let error = reply["error"] { throw Failure("\(method): \(error)") }
        return reply["result"] as? [String: Any] ?? [:]
    }

    /// What it was told and asked so far, in order; presenters are called as what they present.
    public var told: [String] { changed.withLock { log } }

    /// Who made the changes that it was told of, in their order: programs with their process ids.
    public var origins: [String] { changed.withLock { authors } }

    /// Waits until it was told something, so many times, and gives all that it was told until then.
    @discardableResult
    public func wait(seconds: Double = 30, for what: String, times: Int = 1) throws -> [String] {
        let deadline = Date(timeIntervalSinceNow: seconds)
        changed.lock()
        defer { changed.unlock() }
        while log.count(where: { $0 == what }) < times {
            guard !hasEnded, changed.wait(until: deadline) else {
                throw Failure("it was never told: \(what)", evidence: log.joined(separator: "\n"))
            }
        }
        return log
    }

    /// Forgets what it was told.
    public func forget() { changed.withLock { log = [] } }

    private func send(_ message: [String: Any]) throws {
        var line = Array(try JSONSerialization.data(withJSONObject: message.merging(["jsonrpc": "2.0"]) { $1 }))
        line.append(10)
        try writeAll(line, to: descriptor)
    }

    private func note(_ text: String) {
        changed.withLock {
            log.append(text)
            changed.broadcast()
        }
    }

    private func readAll() {
        var received: [UInt8] = []
        while let bytes = try? readSome(from: descriptor), !bytes.isEmpty {
            received += bytes
            while let end = received.firstIndex(of: 10) {
                let line = Data(received[..<end])
                received.removeSubrange(...end)
                if let message = try? JSONSerialization.jsonObject(with: line) as? [String: Any] { take(message) }
            }
        }
        changed.withLock {
            hasEnded = true
            changed.broadcast()
        }
    }

    private func take(_ message: [String: Any]) {
        let parameters = message["params"] as? [String: Any] ?? [:]
        guard let method = message["method"] as? String else {
            guard let id = message["id"] as? Int else { return }
            changed.withLock {
                let presenter = (message["result"] as? [String: Any])?["presenter"] as? NSNumber
                if let name = presenting.removeValue(forKey: id), let presenter { names[presenter.uint64Value] = name }
                replies[id] = message
                changed.broadcast()
            }
            return
        }
        for change in parameters["changes"] as? [[String: Any]] ?? [] {
            let event = change["event"] as? [String: Any] ?? [:]
            changed.withLock { authors.append("\(event["program"] ?? "-") \(event["pid"] ?? "-")") }
        }
        let presenter = (parameters["presenter"] as? NSNumber)?.uint64Value ?? 0
        let name = changed.withLock { names[presenter] } ?? ""
        for text in words(method, parameters) {
            note("\(name): \(text)")
            guard answers, let id = message["id"] else { continue }
            do {
                try handler?(text)
                try send(["id": id, "result": [:] as [String: Any]])
            } catch {
                try? send(["id": id, "error": ["code": -32603, "message": "\(error)"] as [String: Any]])
            }
        }
    }

    /// What a message says, in words.
    private func words(_ method: String, _ parameters: [String: Any]) -> [String] {
        switch method {
        case "relinquish": ["relinquish to \(parameters["toWriter"] as? Bool == true ? "writer" : "reader")"]
        case "accommodateDeletion": ["accommodate" + ((parameters["path"] as? String).map { " \($0)" } ?? "")]
        case "changes":
            (parameters["changes"] as? [[String: Any]] ?? []).map { change in
                let event = change["event"] as? [String: Any] ?? [:]
                let from = (event["from"] as? String).map { "\($0) -> " } ?? ""
                return
                    """
                    \(event["event"] ?? "") \(from)\(event["path"] ?? "") \(change["relation"] ?? "") at \
                    \(change["place"] ?? "")
                    """
            }
        case "events":
            (parameters["events"] as? [[String: Any]] ?? []).map { event in
                let from = (event["from"] as? String).map { "\($0) -> " } ?? ""
                return "event \(event["event"] ?? "") \(from)\(event["path"] ?? "")"
            }
        case "claimDisturbed": ["claimDisturbed \(parameters["path"] ?? "") \(parameters["disturbance"] ?? "")"]
        default: [method]
        }
    }
}
