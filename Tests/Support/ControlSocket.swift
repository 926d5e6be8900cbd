// Calls to the daemon over its socket, without a process for each: for tests that ask thousands of times.

import CTestSupport
import Foundation
import Glibc

/// A connection to a container's control socket. Belongs to one thread at a time.
public final class ControlSocket {
    let descriptor: Int32
    private var received: [UInt8] = []
    private var count = 0

    /// Connects to the daemon of a mounted container.
    public convenience init(of container: TestContainer) throws {
        try self.init(at: FileManager.default.destinationOfSymbolicLink(atPath: container.file(".versions/.socket")))
    }

    public init(at path: String) throws { descriptor = try Self.connect(to: path) }

    /// A stream socket that is connected to a path by another user, who is in no group but its own: what this thread
    /// does under other names, only root's can.
    static func connect(to path: String, asUser user: UInt32?) throws -> Int32 {
        guard let user else { return try connect(to: path) }
        var groups = [gid_t](repeating: 0, count: 64)
        let count = Int(getgroups(64, &groups))
        guard count >= 0, vfs_call3(VFS_SETGROUPS, 0, 0, 0) == 0, vfs_call3(VFS_SETRESGID, -1, Int(user), -1) == 0,
            vfs_call3(VFS_SETRESUID, -1, Int(user), -1) == 0
        else { throw Failure.call("becoming user \(user)") }
        defer {
            _ = vfs_call3(VFS_SETRESUID, -1, 0, -1)
            _ = vfs_call3(VFS_SETRESGID, -1, 0, -1)
            _ = groups.withUnsafeBytes { vfs_call3(VFS_SETGROUPS, count, Int(bitPattern: $0.baseAddress), 0) }
        }
        return try connect(to: path)
    }

    /// A stream socket that is connected to a path.
    static func connect(to path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            defer { close(descriptor) }
            throw Failure.call("connect \(path)")
        }
        return descriptor
    }

    deinit { close(descriptor) }

    /// Calls a method about a path of the container.
    public func call<Reply: Decodable>(_ method: String, target path: String) throws -> Reply {
        try call(method, ["target": ["path": path]])
    }

    /// Calls a method, which has to succeed.
    public func call<Reply: Decodable>(_ method: String, _ parameters: [String: Any]) throws -> Reply {
        _ = try begin(method, parameters)
        let answer = Data(try nextLine())
        guard let reply = try? JSONDecoder().decode(Answer<Reply>.self, from: answer) else {
            throw Failure("\(method): \(String(decoding: answer.prefix(2000), as: UTF8.self))")
        }
        return reply.result
    }

    /// Calls a method and does not wait for the answer.
    /// - Returns: the call's id.
    public func begin(_ method: String, _ parameters: [String: Any]) throws -> Int {
        count += 1
        let message: [String: Any] = ["jsonrpc": "2.0", "id": count, "method": method, "params": parameters]
        var line = Array(try JSONSerialization.data(withJSONObject: message))
        line.append(10)
        try writeAll(line, to: descriptor)
        return count
    }

    /// The next line, whatever it is.
    public func next() throws -> [String: Any] {
        let line = try nextLine()
        guard let message = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] else {
            throw Failure("no message: \(String(decoding: line.prefix(2000), as: UTF8.self))")
        }
        return message
    }

    /// The answer to a call; all that comes before it is passed over.
    public func answer(to call: Int) throws -> [String: Any] {
        while true {
            let message = try next()
            if message["method"] == nil, message["id"] as? Int == call { return message }
        }
    }

    /// Whether a line has been received that nobody has asked for yet.
    var hasLine: Bool { received.contains(10) }

    /// Whether something can be read now.
    public func hasMore() throws -> Bool {
        hasLine || Deadline.after(seconds: 0).poll([(descriptor, POLLIN)]) != nil
    }

    /// Sends bytes as they are.
    public func send(_ bytes: [UInt8]) throws { try writeAll(bytes, to: descriptor) }

    /// Sends lines that may be anything, and waits until the daemon has come to their end.
    public func flood(_ lines: [[UInt8]]) throws {
        try send(
            lines.flatMap { $0 + [10] } + Array("{\"jsonrpc\":\"2.0\",\"id\":\"the-end\",\"method\":\"claims\"}\n".utf8)
        )
        let end = Array("the-end".utf8)
        while try !nextLine().split(separator: 34).contains(where: { $0.elementsEqual(end) }) {}
    }

    private struct Answer<Reply: Decodable>: Decodable { var result: Reply }

    private func nextLine() throws -> [UInt8] {
        let deadline = Deadline.after(seconds: 60)
        while true {
            if let end = received.firstIndex(of: 10) {
                defer { received.removeSubrange(...end) }
                return Array(received[..<end])
            }
            guard deadline.poll([(descriptor, POLLIN)]) != nil else { throw Failure("the daemon does not answer") }
            let bytes = try readSome(from: descriptor)
            guard !bytes.isEmpty else { throw Failure("the daemon has closed the connection") }
            received += bytes
        }
    }
}
