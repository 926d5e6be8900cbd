// A socket that stands for journald's.

import Glibc

/// Takes datagrams at a path, and keeps them until they are read.
public final class FakeJournal {
    public let path: String
    private let socket: Int32

    /// - Parameter path: short enough for the name of a socket.
    public init(at path: String) throws {
        self.path = path
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard socket >= 0, path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Failure("no socket at \(path)")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Failure.call("bind \(path)") }
    }

    deinit { close(socket) }

    /// The next entry's fields, by their names; nil if none comes in time.
    public func entry(seconds: Double = 20) throws -> [String: [UInt8]]? {
        guard let bytes = try datagram(seconds: seconds) else { return nil }
        var (fields, rest): ([String: [UInt8]], ArraySlice<UInt8>) = ([:], bytes[...])
        while let end = rest.firstIndex(of: 10) {
            let line = rest[..<end]
            if let equals = line.firstIndex(of: 61) {
                fields[String(decoding: line[..<equals], as: UTF8.self)] = Array(line[(equals + 1)...])
                rest = rest[(end + 1)...]
            } else {
                let length = rest[(end + 1)...].prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
                let value = rest[(end + 9)...].prefix(length)
                fields[String(decoding: line, as: UTF8.self)] = Array(value)
                rest = rest.dropFirst(line.count + 9 + length + 1)
            }
        }
        guard rest.isEmpty else { throw Failure("an entry that does not end: \(bytes.count) bytes") }
        return fields
    }

    /// The next datagram; nil if none comes in time.
    public func datagram(seconds: Double = 20) throws -> [UInt8]? {
        guard Deadline.after(seconds: seconds).poll([(socket, POLLIN)]) != nil else { return nil }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count >= 0 else { throw Failure.call("recv \(path)") }
        return Array(buffer[..<count])
    }
}
