// A version of a document in a client's terms: by an id, a count, a time or a program.

import VersionModel

/// A name for a version of a document. In JSON a text, or `{"at": time}` or `{"before": program}`.
public enum VersionName: Hashable, Sendable {
    /// A version's id or its first digits.
    case id(String)
    /// This number of versions before the current one: `~1`, `~2`; `previous` is `~1`, `current` is `~0`.
    case back(Int)
    /// The version that was current at a moment.
    case at(Timestamp)
    /// The version that was current before the last run of a program that saved the document. The program's name, or
    /// the number of its process.
    case before(String)

    /// The id or its first digits; nil for other names.
    public var id: String? {
        if case .id(let id) = self { id } else { nil }
    }

    /// The version before the current one; for a deleted document its last version.
    public static let previous = VersionName.back(1)

    /// Reads a text in the form of JSON and the command line: any other text is an id.
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
    /// The text for ``init(_:)``; for a time or a program in words.
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
