// What goes to the daemon: lines in the order in which they were written, whether or not it reads just now.

import Glibc
import Synchronization

extension ControlConnection {
    /// What is on its way.
    struct Output {
        /// What the daemon had no room for.
        var unsent: [UInt8] = []
        /// A thread sends that; until it is done all lines go there.
        var isDraining = false
        /// The connection has ended: nothing can be sent.
        var isBroken = false
    }

    /// Sends a line behind all earlier ones. Waits for nothing: the reading thread answers questions by it, and the daemon,
    /// while its own lines are not read, reads none of ours.
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

    /// Sends what the daemon had no room for, until all of it is sent.
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

    /// - Returns: how many bytes were sent, which are all of them if it `waits`; nil if the connection has ended.
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
