// The position behind a page of a log.

import VersionModel

/// A position in a log: first the rows of the change feed, then the deletions, then the versions. Clients hand its text
/// back, and may hand back any text.
enum LogCursor: Equatable {
    /// Behind this row, up to the row that was last at the start.
    case feed(after: UInt64, end: UInt64)
    /// Behind this row of the catalog.
    case deletions(afterRow: Int64)
    /// Behind this item, except for its versions older than this time.
    case versions(after: ItemID?, partOf: Part?)

    /// An item that a page covers in part.
    struct Part: Equatable {
        var item: ItemID
        var before: HybridTime
    }

    init?(_ text: String) {
        let words = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        switch (text.first, words.count) {
        case ("f", 2):
            guard let after = UInt64(words[0]), let end = UInt64(words[1]) else { return nil }
            self = .feed(after: after, end: end)
        case ("d", 1):
            guard let row = Int64(words[0]), row >= 0 else { return nil }
            self = .deletions(afterRow: row)
        case ("v", 1):
            guard words[0].isEmpty || ItemID(hex: String(words[0])) != nil else { return nil }
            self = .versions(after: ItemID(hex: String(words[0])), partOf: nil)
        case ("p", 3):
            guard let item = ItemID(hex: String(words[0])), let wall = Int64(words[1]), let logical = UInt32(words[2])
            else { return nil }
            let time = HybridTime(wall: Timestamp(nanoseconds: wall), logical: logical)
            self = .versions(after: nil, partOf: Part(item: item, before: time))
        default: return nil
        }
    }

    var text: String {
        switch self {
        case .feed(let after, let end): "f\(after).\(end)"
        case .deletions(let row): "d\(row)"
        case .versions(let item, nil): "v\(item?.hex ?? "")"
        case .versions(_, let part?): "p\(part.item.hex).\(part.before.wall.nanoseconds).\(part.before.logical)"
        }
    }
}
