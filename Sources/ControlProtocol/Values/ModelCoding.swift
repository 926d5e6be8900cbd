// The model's values in JSON: identities as hex digits, moments as RFC 3339, kinds as words.

import VersionModel

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let nanoseconds = TimeText.parseRFC3339(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 time")
        }
        self.init(nanoseconds: nanoseconds)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(TimeText.rfc3339(nanoseconds: nanoseconds))
    }
}

extension Identifier: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let identifier = Self(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 32 hex digits")
        }
        self = identifier
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}

extension VersionKind: Codable {}
extension EntryType: Codable {}
extension ChangeEvent: Codable {}
