// Serves an unmounted container: the same messages over two descriptors, one call after the other.

import ControlProtocol
import Glibc
import Synchronization

/// The service of `versionsfs --offline DIR`. `versionsctl` starts it for `status`, `check`, `config` and `forget`
/// without a mount, and communicates over its standard input and output.
public enum OfflineService {
    /// Answers the calls on `input` until its end. `watch` is not served.
    public static func run(backend: any ControlBackend, input: CInt = 0, output: CInt = 1) {
        let router = Router(backend)
        let peer = Peer(userID: geteuid(), groupID: getegid(), groups: [], process: getppid())
        let writer = Writer(descriptor: output)
        var framer = LineFramer()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            for frame in framer.feed(Array(buffer.prefix(count))) {
                guard let reply = answer(frame, router, peer, writer) else { continue }
                guard writer.write(reply) else { return }
            }
        }
    }

    private static func answer(
        _ frame: LineFramer.Frame, _ router: Router, _ peer: Peer, _ writer: Writer
    ) -> [UInt8]? {
        guard case .line(let line) = frame else {
            return Wire.line(failing: ControlError(.invalidRequest, "the line is too long"), to: nil)
        }
        let message: Message
        do {
            message = try Message(line: line)
        } catch {
            return Wire.line(failing: error.error, to: error.id)
        }
        guard case .request(let id, let method) = message else { return nil }
        guard let route = router[method] else {
            return Wire.line(failing: ControlError(.unknownMethod, "no method \(method.prefix(64)) here"), to: id)
        }
        let throttle = ProgressThrottle()
        let call = ControlCall(peer: peer) { done, total, unit in
            let notification = ProgressNotification(request: id, done: done, total: total, unit: unit)
            guard throttle.lets(), let line = try? Wire.line(notifying: notification) else { return }
            _ = writer.write(line)
        }
        do {
            return try route.answer(line, id, call)
        } catch {
            return Wire.line(failing: error, to: id)
        }
    }

    /// Writes whole lines, from any thread.
    private final class Writer: Sendable {
        /// Guards the descriptor: lines must not mix.
        private let descriptor: Mutex<CInt>

        init(descriptor: CInt) { self.descriptor = Mutex(descriptor) }

        func write(_ line: [UInt8]) -> Bool {
            descriptor.withLock { descriptor in
                line.withUnsafeBytes { bytes in
                    var sent = 0
                    while sent < bytes.count {
                        let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
                        if count < 0, errno == EINTR { continue }
                        guard count > 0 else { return false }
                        sent += count
                    }
                    return true
                }
            }
        }
    }
}
