// The names of versions and deleted entries under `.versions` (DESIGN 3.2).

/// `STAMP_DEVICE_ID.EXT`: a version's name in `conflicts`, `history` or `base`.
public struct VersionFileName: Hashable, Sendable {
    /// The time of the save, to the millisecond.
    public let saved: Timestamp
    /// The device's name in file-name form.
    public let device: String
    /// The first 12 hex digits of the version's id.
    public let id: String
    /// The document's own extension; nil if it has none.
    public let fileExtension: [UInt8]?

    /// The name of a version.
    /// - Parameters:
    ///   - device: the device's name for users, with any characters.
    ///   - document: the document's name, for its extension.
    public init(version: VersionID, saved: Timestamp, device: String, document: FileName) {
        self.saved = saved
        self.device = Self.label(device)
        id = version.short
        fileExtension = document.fileExtension
    }

    /// Reads a name; nil for other names.
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

    /// A device's name in file-name form: at most 32 letters, digits and `-`.
    public static func label(_ device: String) -> String {
        let bytes = device.utf8.map { $0.isLetterOrDigit ? $0 : 45 }
        let label = bytes.drop { $0 == 45 }.prefix(32)
        let trimmed = label.lastIndex { $0 != 45 }.map { label[...$0] } ?? []
        return trimmed.isEmpty ? "device" : String(decoding: trimmed, as: UTF8.self)
    }
}

/// The names of documents under `.versions`: their own, except names with another meaning there.
///
/// Such a document's name gets the suffix `@document`, and so does a name that already looks like that: each name has
/// one meaning.
public enum BrowsedName {
    /// The deleted entries of the directory.
    public static let deleted = Array(".deleted".utf8)
    /// The link to the control socket. Only the root has it, but documents have the same names in all directories.
    public static let socket = Array(".socket".utf8)
    private static let suffix = Array("@document".utf8)

    /// A document's name under `.versions`; nil if it is too long.
    public static func of(_ document: FileName) -> FileName? {
        isTaken(document.bytes) ? FileName(bytes: document.bytes + suffix) : document
    }

    /// The document of a name under `.versions`; nil for a name with another meaning.
    public static func document(_ name: FileName) -> FileName? {
        // The two special names are shorter than the suffix, so their rest is empty and no name.
        isTaken(name.bytes) ? FileName(bytes: name.bytes.dropLast(suffix.count)) : name
    }

    /// Whether the name has another meaning there, or has one with one `@document` less or more.
    private static func isTaken(_ name: [UInt8]) -> Bool {
        var rest = name[...]
        while rest.suffix(suffix.count).elementsEqual(suffix) { rest = rest.dropLast(suffix.count) }
        return rest.elementsEqual(deleted) || rest.elementsEqual(socket)
    }
}

/// Names of entries of `.deleted`: the former name, and `NAME@STAMP` for an entry behind a later one of the same name.
public enum DeletedFileName {
    /// The name of an older entry. A name that is too long is cut between characters.
    public static func older(_ name: FileName, deleted: Timestamp) -> FileName {
        let suffix = Array("@\(deleted.stamp)".utf8)
        return FileName(bytes: BouncedName.cut(name.bytes, to: BouncedName.longest - suffix.count) + suffix) ?? name
    }

    /// Splits a name in the form of an older entry; nil for other names. A newest entry may have the same form: try
    /// that first.
    public static func parse(_ name: FileName) -> (name: FileName, deleted: Timestamp)? {
        guard let at = name.bytes.lastIndex(of: 64), let before = FileName(bytes: name.bytes[..<at]),
            let deleted = Timestamp(stamp: String(decoding: name.bytes[(at + 1)...], as: UTF8.self))
        else { return nil }
        return (before, deleted)
    }
}
