// Paths in messages: text for users, and also the bytes if the text cannot express them.

import FoundationEssentials
import VersionModel

/// A Linux path: any bytes except NUL. In an object it has the key `path` (or the like); if the bytes are not UTF-8,
/// `pathBytes` in base64 is beside it (DESIGN 3.3).
public struct Path: Hashable, Sendable, CustomStringConvertible {
    /// The bytes for the kernel.
    public var bytes: [UInt8]

    /// Takes bytes unchanged.
    public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Takes the UTF-8 of a text.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// A path relative to the container's root; empty for the root.
    public init(_ path: TreePath) { bytes = path.bytes }

    /// The path for users: bytes that are not UTF-8 become U+FFFD.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    /// The path as one relative to the container's root; nil if a component is `..` or not a name.
    public var tree: TreePath? { TreePath(bytes: bytes) }

    /// The part after the last slash.
    public var lastComponent: Path {
        Path(bytes: bytes.split(separator: 47).last ?? [])
    }

    /// Whether the text stands for exactly these bytes.
    var isText: Bool { String(validating: bytes, as: UTF8.self) != nil }
}

extension Path: Codable {
    /// `{"path": …, "pathBytes": …}`: the form of a path in requests. Listings have the two keys among their own.
    public init(from decoder: any Decoder) throws {
        self = try decoder.container(keyedBy: TextKey.self).decodePath(forKey: "path")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(path: self, forKey: "path")
    }
}

/// A key of an object, made from text.
public struct TextKey: CodingKey, ExpressibleByStringLiteral {
    public let stringValue: String
    public var intValue: Int? { nil }
    public init(stringLiteral value: String) { stringValue = value }
    public init(stringValue: String) { self.stringValue = stringValue }
    public init?(intValue: Int) { nil }
    /// The key beside this one that holds the bytes.
    var bytes: TextKey { TextKey(stringValue: stringValue + "Bytes") }
}

extension KeyedEncodingContainer where Key == TextKey {
    /// Writes a path, and its bytes beside it if they are not UTF-8.
    mutating func encode(path: Path, forKey key: TextKey) throws {
        try encode(path.description, forKey: key)
        if !path.isText { try encode(Data(path.bytes), forKey: key.bytes) }
    }

    /// Writes a path if there is one.
    public mutating func encodeIfPresent(path: Path?, forKey key: TextKey) throws {
        if let path { try encode(path: path, forKey: key) }
    }

    /// Writes paths as a list, and all their bytes beside it if any is not UTF-8.
    mutating func encode(paths: [Path], forKey key: TextKey) throws {
        try encode(paths.map(\.description), forKey: key)
        if !paths.allSatisfy(\.isText) { try encode(paths.map { Data($0.bytes) }, forKey: key.bytes) }
    }
}

extension KeyedDecodingContainer where Key == TextKey {
    /// Reads a path from its bytes if they exist, else from its text. A NUL in it is an error.
    func decodePath(forKey key: TextKey) throws -> Path {
        let path =
            if let data = try decodeIfPresent(Data.self, forKey: key.bytes) {
                Path(bytes: data)
            } else {
                Path(try decode(String.self, forKey: key))
            }
        guard !path.bytes.contains(0) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "a path with a NUL byte")
        }
        return path
    }

    /// Reads a path if there is one.
    func decodePathIfPresent(forKey key: TextKey) throws -> Path? {
        guard try decodeIfPresent(String.self, forKey: key) != nil || contains(key.bytes) else { return nil }
        return try decodePath(forKey: key)
    }

    /// Reads a list of paths.
    func decodePaths(forKey key: TextKey) throws -> [Path] {
        if let bytes = try decodeIfPresent([Data].self, forKey: key.bytes) { return bytes.map { Path(bytes: $0) } }
        return try decode([String].self, forKey: key).map { Path($0) }
    }
}
