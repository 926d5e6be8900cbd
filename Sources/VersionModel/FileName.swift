// Linux names and paths: bytes, compared as bytes, decoded only for display.

/// One component of a path: one or more bytes except `/` and NUL, never `.` or `..`.
public struct FileName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name's bytes in the file system.
    public let bytes: [UInt8]

    /// Takes a name from the kernel; nil if no directory entry can have it.
    public init?(bytes: some Sequence<UInt8>) { self.init(bytes: Array(bytes)) }

    /// The same for an array of bytes. Every request needs this, so it avoids generic code.
    public init?(bytes: [UInt8]) {
        switch bytes.count {
        case 0: return nil
        case 1, 2: if bytes.allSatisfy({ $0 == 46 }) { return nil }
        default: break
        }
        for byte in bytes where byte == 0 || byte == 47 { return nil }
        self.bytes = bytes
    }

    /// Takes the UTF-8 of a text as a name; nil under the same rule.
    public init?(_ text: String) {
        self.init(bytes: text.utf8)
    }

    /// The name for users: bytes that are not UTF-8 become U+FFFD.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    public static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// The letters and digits after the last dot (at most 16), without the dot; nil if there are none, or if the only
    /// dot is the first byte.
    public var fileExtension: [UInt8]? {
        guard let dot = bytes.lastIndex(of: 46), dot > 0 else { return nil }
        let tail = bytes[(dot + 1)...]
        guard !tail.isEmpty, tail.count <= 16, tail.allSatisfy(\.isLetterOrDigit) else { return nil }
        return Array(tail)
    }
}

/// A path relative to a container's root: names joined by `/`, empty for the root itself.
public struct TreePath: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The path's bytes, without a slash at either end.
    public let bytes: [UInt8]

    /// The root of the container.
    public static let root = TreePath(names: [])

    /// Joins names to a path.
    public init(names: [FileName]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(names.reduce(names.count) { $0 + $1.bytes.count })
        for name in names {
            if !bytes.isEmpty { bytes.append(47) }
            bytes += name.bytes
        }
        self.bytes = bytes
    }

    /// Takes a path from a user or a program, relative to the root; nil if a component is `..` or not a name. Empty
    /// components and `.` are ignored.
    public init?(bytes: some Sequence<UInt8>) {
        var names: [FileName] = []
        for part in Array(bytes).split(separator: 47) where !part.elementsEqual([46]) {
            guard let name = FileName(bytes: part) else { return nil }
            names.append(name)
        }
        self.init(names: names)
    }

    /// The names of the path, from the root on.
    public var names: [FileName] { bytes.split(separator: 47).compactMap { FileName(bytes: $0) } }

    /// The path for users: bytes that are not UTF-8 become U+FFFD.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    /// The path of an entry of this directory.
    public func appending(_ name: FileName) -> TreePath {
        guard !bytes.isEmpty else { return TreePath(joined: name.bytes) }
        var joined: [UInt8] = []
        joined.reserveCapacity(bytes.count + 1 + name.bytes.count)
        joined += bytes
        joined.append(47)
        joined += name.bytes
        return TreePath(joined: joined)
    }

    /// Takes joined names.
    private init(joined bytes: [UInt8]) { self.bytes = bytes }

    /// The directory of this path; nil for the root.
    public var parent: TreePath? {
        let names = names
        return names.isEmpty ? nil : TreePath(names: Array(names.dropLast()))
    }

    /// The last name; nil for the root.
    public var name: FileName? { names.last }

    /// Whether this is the other path or a path below it.
    public func isWithin(_ other: TreePath) -> Bool {
        guard bytes.count > other.bytes.count else { return bytes == other.bytes }
        return other.bytes.isEmpty || (bytes[other.bytes.count] == 47 && bytes.starts(with: other.bytes))
    }

    public static func < (left: TreePath, right: TreePath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII letter or digit.
    var isLetterOrDigit: Bool {
        switch self {
        case 48...57, 65...90, 97...122: true
        default: false
        }
    }
}

extension FileName {
    /// A placeholder for a missing name: `?`.
    public init(placeholder: Void) { bytes = [63] }
}
