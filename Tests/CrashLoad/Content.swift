// Contents that tell what they are: every piece is unlike every other, so a test can say of any bytes who wrote them
// and whether they are whole.

import Synchronization

/// A file's content as a worker means it: pieces, the first from a replacing save, the others appended.
public struct Content: Hashable, Sendable, CustomStringConvertible {
    /// One write of a worker.
    public struct Piece: Hashable, Sendable {
        public var number: UInt64
        public var length: Int

        public init(number: UInt64, length: Int) {
            self.number = number
            self.length = length
        }

        /// Its bytes: a head with the number, then noise that depends on it (SplitMix64).
        public var bytes: [UInt8] {
            var result = Array("[\(number):\(length)]".utf8)
            result.reserveCapacity(length + 8)
            var state = number &* 0x9e37_79b9_7f4a_7c15
            while result.count < length {
                state = state &+ 0x9e37_79b9_7f4a_7c15
                var word = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
                word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
                withUnsafeBytes(of: word ^ word >> 31) { result += $0 }
            }
            return Array(result.prefix(length))
        }
    }

    public var pieces: [Piece]

    public init(_ pieces: [Piece]) { self.pieces = pieces }

    public var bytes: [UInt8] {
        // Asked for again and again, for many files after each crash.
        if let known = Self.made.withLock({ $0[self] }) { return known }
        let bytes = pieces.flatMap(\.bytes)
        Self.made.withLock { made in
            if made.count > 4000 { made = [:] }
            made[self] = bytes
        }
        return bytes
    }

    /// Contents made a moment ago.
    private static let made = Mutex<[Content: [UInt8]]>([:])

    public var length: Int { pieces.reduce(0) { $0 + $1.length } }

    /// `number:length,number:length`; `-` for nothing.
    public var description: String {
        pieces.isEmpty ? "-" : pieces.map { "\($0.number):\($0.length)" }.joined(separator: ",")
    }

    /// What some bytes are, if they are whole pieces.
    public init?(of bytes: [UInt8]) {
        pieces = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.first == UInt8(ascii: "["), let end = rest.prefix(40).firstIndex(of: UInt8(ascii: "]")),
                let content = Content(Substring(String(decoding: rest[rest.startIndex + 1..<end], as: UTF8.self))),
                let piece = content.pieces.first, content.pieces.count == 1, piece.length > 0,
                rest.prefix(piece.length).elementsEqual(piece.bytes)
            else { return nil }
            pieces.append(piece)
            rest = rest.dropFirst(piece.length)
        }
    }

    public init?(_ text: Substring) {
        pieces = []
        if text == "-" { return }
        for word in text.split(separator: ",") {
            let parts = word.split(separator: ":")
            guard parts.count == 2, let number = UInt64(parts[0]), let length = Int(parts[1]) else { return nil }
            pieces.append(Piece(number: number, length: length))
        }
    }
}
