// Whether a signal is pending for the caller of a request.

import Glibc

enum CallerSignals {
    /// Whether a signal that the thread does not block is pending for it.
    static func arePending(thread: pid_t) -> Bool {
        guard thread > 0, let file = fopen("/proc/\(thread)/status", "re") else { return false }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = fread(&bytes, 1, bytes.count, file)
        return arePending(status: String(decoding: bytes[..<count], as: UTF8.self))
    }

    /// Reads the masks in the text of `/proc/PID/status`.
    static func arePending(status: String) -> Bool {
        func mask(_ key: String) -> UInt64 {
            for line in status.split(separator: "\n") where line.hasPrefix(key) {
                return UInt64(line.dropFirst(key.count).filter { !$0.isWhitespace }, radix: 16) ?? 0
            }
            return 0
        }
        return (mask("SigPnd:") | mask("ShdPnd:")) & ~mask("SigBlk:") != 0
    }
}
