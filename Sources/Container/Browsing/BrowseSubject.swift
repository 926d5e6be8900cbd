// What there is under `.versions`: the things that a virtual node can stand for.

import VersionModel
import VersionStore

/// A directory or file under some `.versions` (DESIGN 3.2).
enum BrowseSubject: Hashable, Sendable {
    /// What a document's versions are sorted by.
    enum Section: String, Hashable, Sendable, CaseIterable {
        case conflicts, history, base
    }

    /// `D/.versions`
    case top(FileID)
    /// `/.versions/.socket`
    case socket
    /// `D/.versions/NAME`
    case document(Place)
    /// `D/.versions/NAME/conflicts` and its like
    case section(Place, Section)
    /// `D/.versions/NAME/conflicts/STAMP_DEVICE_ID.EXT`
    case version(Place, Section, VersionID)
    /// `D/.versions/.deleted`
    case deletions(FileID)
    /// What was deleted, at any depth below `.deleted`; `file` is its own identity.
    case deletion(DeletionID, file: FileID)
    /// The `.versions` of a directory below `.deleted`: the other versions of documents that went with it.
    case deletedTop(DeletionID, file: FileID)

    /// The inode number to show: the same whenever the subject is found again.
    func inode(_ identity: FileIdentity) -> UInt64 {
        switch self {
        case .top(let directory): Self.mix(identity, 1, [directory.number])
        case .socket: Self.mix(identity, 2, [])
        case .document(let place): Self.mix(identity, 3, Self.words(place))
        case .section(let place, let section): Self.mix(identity, 4, Self.words(place) + [section.code])
        case .version(let place, let section, let version):
            Self.mix(identity, 5, Self.words(place) + [section.code, version.high, version.low])
        case .deletions(let directory): Self.mix(identity, 6, [directory.number])
        case .deletion(_, let file): file.number
        case .deletedTop(_, let file): Self.mix(identity, 7, [file.number])
        }
    }

    /// Chains the keyed hash over the words; no file below has a device of this number.
    private static func mix(_ identity: FileIdentity, _ tag: UInt64, _ words: [UInt64]) -> UInt64 {
        words.reduce(identity.id(device: .max, inode: tag, born: Timestamp(nanoseconds: 0)).number) { number, word in
            identity.id(device: .max, inode: number, born: Timestamp(nanoseconds: Int64(bitPattern: word))).number
        }
    }

    private static func words(_ place: Place) -> [UInt64] {
        var words = [place.directory.number, UInt64(place.name.bytes.count)]
        for start in stride(from: 0, to: place.name.bytes.count, by: 8) {
            words.append(place.name.bytes[start...].prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        }
        return words
    }
}

extension BrowseSubject.Section {
    fileprivate var code: UInt64 {
        switch self {
        case .conflicts: 1
        case .history: 2
        case .base: 3
        }
    }

    var name: FileName { FileName(rawValue) ?? FileName(placeholder: ()) }
}
