// A line of a log in a file.

import ControlProtocol
import VersionModel

/// `2026-11-25T16:21:39.058123456Z notice: mounted`.
public struct LogLine: Hashable, Sendable, Encodable {
    public var time: Timestamp
    /// A level of swift-log: `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
    public var level: String
    public var message: String

    public init(time: Timestamp, level: String, message: String) {
        self.time = time
        self.level = level
        self.message = message
    }

    /// Reads a line; nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].hasSuffix(":"), let time = Timestamp(rfc3339: parts[0]) else { return nil }
        self.init(time: time, level: String(parts[1].dropLast()), message: String(parts[2]))
    }

    /// The line, without its end.
    public var text: String { "\(time.rfc3339) \(level): \(message)" }
}
