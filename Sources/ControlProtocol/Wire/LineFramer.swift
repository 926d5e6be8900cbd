// Splits a stream of bytes into lines, without I/O and with bounded memory.

/// Splits bytes into lines. A line over the limit is reported once and skipped to its end.
public struct LineFramer: Sendable {
    /// A part of the input.
    public enum Frame: Hashable, Sendable {
        /// A line without its newline (and without a carriage return before it).
        case line([UInt8])
        /// A line that exceeds the limit; its bytes are dropped.
        case tooLong
    }

    /// The longest accepted line in bytes.
    public static let standardLimit = 16 << 20

    private let limit: Int
    private var partial: [UInt8] = []
    private var skipping = false

    public init(limit: Int = LineFramer.standardLimit) { self.limit = limit }

    /// The number of bytes of the incomplete line.
    public var heldByteCount: Int { partial.count }

    /// Takes the next bytes of the stream and passes each completed line to `body`. Empty lines are skipped.
    public mutating func feed(_ bytes: UnsafeRawBufferPointer, _ body: (Frame) -> Void) {
        var rest = bytes[...]
        while let newline = rest.firstIndex(of: 10) {
            take(rest[..<newline], body)
            rest = rest[(newline + 1)...]
            if !skipping { finishLine(body) }
            skipping = false
        }
        take(rest, body)
    }

    /// Takes the next bytes of the stream and returns the completed lines.
    public mutating func feed(_ bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        bytes.withUnsafeBytes { feed($0) { frames.append($0) } }
        return frames
    }

    private mutating func take(_ bytes: Slice<UnsafeRawBufferPointer>, _ body: (Frame) -> Void) {
        guard !skipping else { return }
        if partial.count + bytes.count > limit {
            partial = []
            skipping = true
            body(.tooLong)
        } else {
            partial.append(contentsOf: bytes)
        }
    }

    private mutating func finishLine(_ body: (Frame) -> Void) {
        if partial.last == 13 { partial.removeLast() }
        if !partial.isEmpty { body(.line(partial)) }
        partial.removeAll(keepingCapacity: partial.capacity <= 65_536)
    }
}
