// A socket whose listener never takes a connection.

import Glibc
import Support

final class StuckSocket {
    private let socket: CInt

    init(at path: String) throws {
        socket = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(100)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(socket, 4) == 0 else { throw Failure.call("listen \(path)") }
    }

    func close() { Glibc.close(socket) }
}
