// Writes lines to the daemon in order, even when it does not read at the moment.

import Glibc
import Synchronization

extension ControlConnection {
    /// The state of the output.
    struct Output {
        /// Bytes that did not fit into the socket's buffer.
        var unsent: [UInt8] = []
        /// Whether a thread sends those bytes; until it is done, all lines are appended to them.
        var isDraining = false
        /// Whether the connection has ended, so that no line can be sent.
        var isBroken = false
    }

    /// Sends a line after all earlier ones, without a wait. The reading thread uses it for answers, and the daemon
    /// reads no lines while its own are not read.
    func write(_ line: [UInt8]) {
        enum Outcome { case sent, begins, failed }
        let outcome: Outcome = output.withLock { output in
            if output.isBroken { return .failed }
            if output.isDraining {
                output.unsent += line
                return .sent
            }
            guard let count = send(line[...], waits: false) else {
                output.isBroken = true
                return .failed
            }
            guard count < line.count else { return .sent }
            output.unsent = Array(line[count...])
            output.isDraining = true
            return .begins
        }
        switch outcome {
        case .sent: break
        // The reader finds the end of the connection and fails the calls.
        case .failed: close()
        case .begins: if !ReadingThread.start({ self.drain() }) { drain() }
        }
    }

    /// Sends the remaining bytes.
    private func drain() {
        while true {
            let chunk = output.withLock { output in
                defer { output.unsent = [] }
                output.isDraining = !output.unsent.isEmpty
                return output.unsent
            }
            if chunk.isEmpty { return }
            if send(chunk[...], waits: true) == nil {
                output.withLock { $0 = Output(isBroken: true) }
                return close()
            }
        }
    }

    /// - Returns: the number of sent bytes, all of them if it `waits`; nil if the connection has ended.
    private func send(_ bytes: ArraySlice<UInt8>, waits: Bool) -> Int? {
        let flags = CInt(MSG_NOSIGNAL) | (waits ? 0 : CInt(MSG_DONTWAIT))
        return bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(socket, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, flags)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN, !waits { break }
                guard count > 0 else { return nil }
                sent += count
            }
            return sent
        }
    }
}
