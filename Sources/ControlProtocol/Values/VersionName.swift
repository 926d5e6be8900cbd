// A version of a document as clients name it: by an id, a count, a time or a program.

import VersionModel

/// Which version of a document is meant. In JSON a text, or `{"at": time}` or `{"before": program}`.
public enum VersionName: Hashable, Sendable {
    /// A version's id or its first digits.
    case id(String)
    /// So many versions before the current one: `~1`, `~2`; `previous` is `~1`, `current` is `~0`.
    case back(Int)
    /// The version that was current at a moment.
    case at(Timestamp)
    /// The version that was current before the last run of a program that saved the document: its name, or the number
    /// of its process.
    case before(String)

    /// The id or its first digits; nil if it is named otherwise.
    public var id: String? {
        if case .id(let id) = self { id } else { nil }
    }

    /// The version before the current one; of a deleted document the one that it had last.
    public static let previous = VersionName.back(1)

    /// Reads a text as JSON and command line have it: whatever is nothing else is taken for an id.
    public init(_ text: String) {
        switch text {
        case "current": self = .back(0)
        case "previous", "~": self = .previous
        default:
            let digits = text.dropFirst()
            if text.first == "~", digits.utf8.allSatisfy({ (48...57).contains($0) }), let steps = Int(digits) {
                self = .back(steps)
            } else {
                self = .id(text)
            }
        }
    }
}

extension VersionName: Codable {
    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self.init(text)
            return
        }
        let container = try decoder.container(keyedBy: TextKey.self)
        if let time = try container.decodeIfPresent(Timestamp.self, forKey: "at") {
            self = .at(time)
        } else {
            self = .before(try container.decode(String.self, forKey: "before"))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .id(let id): try encode(id, encoder)
        case .back(let steps): try encode("~\(steps)", encoder)
        case .at(let time):
            var container = encoder.container(keyedBy: TextKey.self)
            try container.encode(time, forKey: "at")
        case .before(let program):
            var container = encoder.container(keyedBy: TextKey.self)
            try container.encode(program, forKey: "before")
        }
    }

    private func encode(_ text: String, _ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension VersionName: CustomStringConvertible {
    /// As ``init(_:)`` reads it; of a time or a program in words.
    public var description: String {
        switch self {
        case .id(let id): id
        case .back(let steps): "~\(steps)"
        case .at(let time): "at \(time.rfc3339)"
        case .before(let program): "before \(program)"
        }
    }
}

extension VersionName: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }
}
