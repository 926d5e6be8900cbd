// A client that can misbehave: bytes out, lines in.

import ControlProtocol
import Glibc

final class RawClient {
    private(set) var socket: CInt
    private var framer = LineFramer(limit: 1 << 30)
    private var lines: [[UInt8]] = []

    init(_ path: String) throws {
        socket = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw ControlError(.system, "connect: errno \(errno)") }
    }

    /// Takes over a connected socket, from which nothing is awaited for longer than two minutes.
    init(taking socket: CInt) {
        self.socket = socket
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    func close() {
        if socket >= 0 { Glibc.close(socket) }
        socket = -1
    }

    func shutDownWriting() { shutdown(socket, CInt(SHUT_WR)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool { Self.send(bytes, to: socket) }

    @discardableResult
    static func send(_ bytes: [UInt8], to socket: CInt) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { raw in
                Glibc.send(socket, raw.baseAddress?.advanced(by: sent), raw.count - sent, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// The next line; nil at the end.
    func line() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while lines.isEmpty {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            for case .line(let line) in framer.feed(Array(buffer.prefix(count))) { lines.append(line) }
        }
        return lines.removeFirst()
    }

    func text() -> String? { line().map { String(decoding: $0, as: UTF8.self) } }
}
