// The names that versions and deleted things have under `.versions` (DESIGN 3.2).

/// `STAMP_DEVICE_ID.EXT`: a version's name in `conflicts`, `history` or `base`.
public struct VersionFileName: Hashable, Sendable {
    /// When it was saved, to the millisecond.
    public let saved: Timestamp
    /// The device's name, as far as a file name takes it.
    public let device: String
    /// The first 12 hex digits of the version's id.
    public let id: String
    /// The document's own extension; nil for none.
    public let fileExtension: [UInt8]?

    /// The name of a version.
    /// - Parameters:
    ///   - device: the device's name for people, whatever is in it.
    ///   - document: the document's name, for its extension.
    public init(version: VersionID, saved: Timestamp, device: String, document: FileName) {
        self.saved = saved
        self.device = Self.label(device)
        id = version.short
        fileExtension = document.fileExtension
    }

    /// Reads a name; nil if it is none of these.
    public init?(_ name: FileName) {
        let parts = name.bytes.split(separator: 95, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let saved = Timestamp(stamp: String(decoding: parts[0], as: UTF8.self)) else {
            return nil
        }
        let device = String(decoding: parts[1], as: UTF8.self)
        let (id, rest) = (parts[2].prefix(12), parts[2].dropFirst(12))
        guard device == Self.label(device), id.count == 12, id.allSatisfy({ $0.isDigit || (97...102).contains($0) })
        else {
            return nil
        }
        if rest.isEmpty {
            fileExtension = nil
        } else {
            let ending = rest.dropFirst()
            guard rest.first == 46, (1...16).contains(ending.count), ending.allSatisfy(\.isLetterOrDigit) else {
                return nil
            }
            fileExtension = Array(ending)
        }
        self.saved = saved
        self.device = device
        self.id = String(decoding: id, as: UTF8.self)
    }

    /// The name as bytes.
    public var bytes: [UInt8] {
        Array("\(saved.stamp)_\(device)_\(id)".utf8) + (fileExtension.map { [46] + $0 } ?? [])
    }

    /// The name.
    public var name: FileName? { FileName(bytes: bytes) }

    /// What of a device's name goes into file names: at most 32 letters, digits and `-`.
    public static func label(_ device: String) -> String {
        let bytes = device.utf8.map { $0.isLetterOrDigit ? $0 : 45 }
        let label = bytes.drop { $0 == 45 }.prefix(32)
        let trimmed = label.lastIndex { $0 != 45 }.map { label[...$0] } ?? []
        return trimmed.isEmpty ? "device" : String(decoding: trimmed, as: UTF8.self)
    }
}

/// The names that documents have under `.versions`: their own, but for those that mean something else there.
///
/// Such a document's has `@document` behind it, and so has the name of one that looks like that already: each name has
/// one meaning.
public enum BrowsedName {
    /// What was deleted from the directory.
    public static let deleted = Array(".deleted".utf8)
    /// The link to the control socket. It is in the root's only; documents are called alike everywhere.
    public static let socket = Array(".socket".utf8)
    private static let suffix = Array("@document".utf8)

    /// A document's name there; nil if it would be too long.
    public static func of(_ document: FileName) -> FileName? {
        isTaken(document.bytes) ? FileName(bytes: document.bytes + suffix) : document
    }

    /// The name of the document that has a name there; nil if it stands for something else.
    public static func document(_ name: FileName) -> FileName? {
        // The two themselves are shorter than what is taken off: nothing is left of them.
        isTaken(name.bytes) ? FileName(bytes: name.bytes.dropLast(suffix.count)) : name
    }

    /// Whether it means something there, or does with one `@document` less or more.
    private static func isTaken(_ name: [UInt8]) -> Bool {
        var rest = name[...]
        while rest.suffix(suffix.count).elementsEqual(suffix) { rest = rest.dropLast(suffix.count) }
        return rest.elementsEqual(deleted) || rest.elementsEqual(socket)
    }
}

/// Names of entries of `.deleted`: as they were, and `NAME@STAMP` for those that a later one of that name hides.
public enum DeletedFileName {
    /// The name of an older entry. A name that would be too long is cut, between characters.
    public static func older(_ name: FileName, deleted: Timestamp) -> FileName {
        let suffix = Array("@\(deleted.stamp)".utf8)
        return FileName(bytes: BouncedName.cut(name.bytes, to: BouncedName.longest - suffix.count) + suffix) ?? name
    }

    /// Parts a name that may be an older entry's; nil if it is not. A name of its own may look the same: try that
    /// first.
    public static func parse(_ name: FileName) -> (name: FileName, deleted: Timestamp)? {
        guard let at = name.bytes.lastIndex(of: 64), let before = FileName(bytes: name.bytes[..<at]),
            let deleted = Timestamp(stamp: String(decoding: name.bytes[(at + 1)...], as: UTF8.self))
        else { return nil }
        return (before, deleted)
    }
}
