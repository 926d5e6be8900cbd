// The text of a predicate, which parses to the same predicate.

import VersionModel

extension QueryPredicate: CustomStringConvertible {
    /// The query in the language of `init(parsing:moment:)`; times in RFC 3339, in UTC.
    public var description: String {
        switch self {
        case .always(let answer): answer ? "TRUE" : "FALSE"
        case .test(let test): test.description
        case .and(let parts): Self.join(parts, " AND ", nothing: "TRUE")
        case .or(let parts): Self.join(parts, " OR ", nothing: "FALSE")
        case .not(let part): "NOT \(part.operand)"
        }
    }

    /// Nested joins get parentheses, so that they parse to the same structure.
    private var operand: String {
        switch self {
        case .and, .or: "(\(self))"
        default: description
        }
    }

    private static func join(_ parts: [QueryPredicate], _ word: String, nothing: String) -> String {
        parts.isEmpty ? nothing : parts.map(\.operand).joined(separator: word)
    }
}

extension QueryTest: CustomStringConvertible {
    public var description: String {
        let option = ignoresCase ? "[c]" : ""
        return switch question {
        case .compare(let relation, let value): "\(attribute.rawValue) \(relation.rawValue)\(option) \(written(value))"
        case .like(let pattern): "\(attribute.rawValue) LIKE\(option) \(Self.quoted(pattern))"
        case .oneOf(let values):
            "\(attribute.rawValue) IN\(option) (\(values.map { written($0) }.joined(separator: ", ")))"
        }
    }

    private func written(_ value: QueryValue) -> String {
        switch value {
        case .number(let number): return "\(number)"
        case .moment(let moment): return moment.rfc3339
        case .text(let bytes):
            if case .word = attribute.kind, !bytes.isEmpty, bytes.allSatisfy({ (97...122).contains($0) }) {
                return String(decoding: bytes, as: UTF8.self)
            }
            return Self.quoted(bytes)
        }
    }

    private static func quoted(_ bytes: [UInt8]) -> String {
        let isText = String(validating: bytes, as: UTF8.self) != nil
        var result = [UInt8(34)]
        for byte in bytes {
            switch byte {
            case 34, 92: result += [92, byte]
            case 10: result += Array("\\n".utf8)
            case 0..<32, 127: result += hex(byte)
            case 128...: result += isText ? [byte] : hex(byte)
            default: result.append(byte)
            }
        }
        return String(decoding: result + [34], as: UTF8.self)
    }

    private static func hex(_ byte: UInt8) -> [UInt8] {
        let digits = String(byte, radix: 16)
        return Array("\\x\(digits.utf8.count < 2 ? "0" : "")\(digits)".utf8)
    }
}
