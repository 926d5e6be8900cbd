// Documents of format 1 that began with a copy of another document's version.

import VersionModel

/// The documents that parted from others: format 1 gave each a first version with the content of the version that it
/// parted from. In schema 2 that version itself is the document's origin.
///
/// | the copy | |
/// |---|---|
/// | is like its original | goes; its identity is one more of the original |
/// | is a conflict, or has marks of its own | stays, as the document's first version |
struct Origins {
    /// Of each document without the copy the version of the other one; by indexes.
    private(set) var versions: [Int32: Int32] = [:]
    private(set) var partings: [FormerNames.Parting] = []
    /// When a copy that stays was made: its own time is that of the original.
    private(set) var times: [Int32: Int64] = [:]

    init(_ records: FormerRecords) {
        lazy var told = Self.firstTold(records)
        for document in 0..<Int32(records.documents.count) {
            guard let first = records.versions(of: document).first,
                // Its children may still name a first version that is gone, ahead of the version that this came from.
                let parent = records.parents(of: first).lazy.compactMap({ records.index(of: $0) }).first,
                let time = Self.time(ofParting: first, from: parent, records, { told[$0] })
            else { continue }
            let origin = records.versions[Int(parent)].document
            partings.append(FormerNames.Parting(document: document, origin: origin, time: time))
            // After thinning it may begin with a later version.
            guard Self.isCopy(first, of: parent, records) else { continue }
            if Self.isAlike(first, parent, records) { versions[document] = parent } else { times[first] = time }
        }
    }

    /// A document parts from another one when that is saved next. Where that is not known, it counts as parted right
    /// after the version that they have in common. If the copy of that was thinned, the document has nothing to show
    /// before its first version: then it counts as parted right before anything is told of it.
    private static func time(
        ofParting first: Int32, from parent: Int32, _ records: FormerRecords, _ told: (Int32) -> Int64?
    ) -> Int64? {
        let (own, original) = (records.versions[Int(first)], records.versions[Int(parent)])
        // The copy has the time of its original.
        guard original.document != own.document, original.time <= own.time else { return nil }
        let isCopy = isCopy(first, of: parent, records)
        let later = records.versions(of: own.document).dropFirst(isCopy ? 1 : 0).first
        var limit = later.map { records.versions[Int($0)].time.wall.nanoseconds } ?? .max
        let next = records.versions(of: original.document).first { index in
            let version = records.versions[Int(index)]
            return version.time > original.time && !version.flags.contains(.beside)
        }
        let least = original.time.wall.nanoseconds
        let saved = next.map { records.versions[Int($0)].time.wall.nanoseconds } ?? .max
        if saved > least, saved <= limit, saved < .max { return saved }
        if !isCopy, let told = told(own.document) { limit = min(limit, told) }
        guard least < limit else { return nil }
        return isCopy || limit == .max ? least + 1 : max(least + 1, limit - 1)
    }

    /// When the feed or the deleted area first tells of a document.
    private static func firstTold(_ records: FormerRecords) -> [Int32: Int64] {
        var times: [Int32: Int64] = [:]
        func note(_ item: ItemID?, _ time: Timestamp) {
            guard let document = item.flatMap({ records.index(of: $0) }) else { return }
            times[document] = min(times[document] ?? .max, time.nanoseconds)
        }
        for row in records.changes { note(row.change.item, row.change.time) }
        for deletion in records.deletions { note(deletion.item, deletion.deleted) }
        return times
    }

    private static func isCopy(_ first: Int32, of parent: Int32, _ records: FormerRecords) -> Bool {
        let (own, original) = (records.versions[Int(first)], records.versions[Int(parent)])
        return own.content == original.content && own.size == original.size
            && records.parents(of: first).count == 1
    }
}

extension Origins {
    private static func isAlike(_ copy: Int32, _ original: Int32, _ records: FormerRecords) -> Bool {
        let (copy, original) = (records.versions[Int(copy)], records.versions[Int(original)])
        return copy.kind != .conflict && copy.flags.marks == original.flags.marks
            && copy.flags.contains(.beside) == original.flags.contains(.beside)
    }
}

extension Version.Flags {
    /// What schema 2 has as marks.
    var marks: VersionMarks {
        var marks: VersionMarks = []
        if contains(.pinned) { marks.insert(.pinned) }
        if contains(.contentLost) { marks.insert(.lost) }
        if contains(.unfinished) { marks.insert(.unfinished) }
        return marks
    }
}
