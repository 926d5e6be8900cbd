// The position behind a page of a log.

import VersionModel
import VersionStore

/// A position in a log: first the rows of the change feed, then the deletions, then the versions. Clients hand its text
/// back, and may hand back any text.
enum LogCursor: Equatable {
    /// Behind this row, up to the row that was last at the start.
    case feed(after: UInt64, end: UInt64)
    case deletions(from: ListPosition?)
    /// Behind this item, except for the rest of its versions.
    case versions(after: ItemID?, partOf: Part?)

    /// An item that a page covers in part.
    struct Part: Equatable {
        var item: ItemID
        var next: ListPosition
    }

    init?(_ text: String) {
        let words = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        switch (text.first, words.count) {
        case ("f", 2):
            guard let after = UInt64(words[0]), let end = UInt64(words[1]) else { return nil }
            self = .feed(after: after, end: end)
        case ("d", 1):
            guard words[0].isEmpty || Int64(words[0]).map({ $0 >= 0 }) ?? false else { return nil }
            self = .deletions(from: Int64(words[0]).map { ListPosition(number: $0) })
        case ("v", 1):
            guard words[0].isEmpty || ItemID(hex: String(words[0])) != nil else { return nil }
            self = .versions(after: ItemID(hex: String(words[0])), partOf: nil)
        case ("p", 3):
            guard let item = ItemID(hex: String(words[0])), let number = Int64(words[1]), let part = UInt32(words[2])
            else { return nil }
            self = .versions(after: nil, partOf: Part(item: item, next: ListPosition(number: number, part: part)))
        default: return nil
        }
    }

    var text: String {
        switch self {
        case .feed(let after, let end): "f\(after).\(end)"
        case .deletions(let position): "d\(position.map { "\($0.number)" } ?? "")"
        case .versions(let item, nil): "v\(item?.hex ?? "")"
        case .versions(_, let part?): "p\(part.item.hex).\(part.next.number).\(part.next.part)"
        }
    }
}
