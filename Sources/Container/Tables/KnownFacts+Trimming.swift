// Facts leave memory where the catalog has them.

import Lineage
import VersionModel

extension KnownFacts {
    /// How long a name that only its maker saw is remembered once it is gone: a place that was vacated is asked about
    /// for 15 s.
    static let untoldFor: Int64 = 60 * 1_000_000_000

    /// The facts without those that the catalog has, but for recent ones. Of names that only this memory has, all stays
    /// that is known of their places, files and documents.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - open: the files that programs have open.
    ///   - recent: of so many rows, the newest ones, the same stays: a tree that was just made is removed, or read.
    func trimmed(now: Timestamp, open: Set<FileID>, recent: Int) -> KnownFacts {
        let oldest = rows.count > recent ? rows.keys.sorted(by: >).prefix(recent).last : RowNumber(0)
        let kept = rows.values.filter { row in
            if let oldest, row.number >= oldest { return true }
            return isUntold(row)
                && (row.file != nil && isLast(row) || now.since(row.time) <= Self.untoldFor
                    || row.file.map(open.contains) ?? false)
        }
        var left = KnownFacts(after: lastNumber)
        left.lastRow = lastRow
        left.unpublished = unpublished.intersection(kept.map(\.number))
        for row in kept { left.keep(row, from: self) }
        for version in left.versions.values { left.noteMoved(version) }
        left.unpublishedOf = unpublishedOf.compactMapValues { numbers in
            let there = numbers.filter { left.rows[$0] != nil }
            return there.isEmpty ? nil : there
        }
        return left
    }

    /// Keeps a row, and what is known of its subjects.
    private mutating func keep(_ row: NameRow, from all: KnownFacts) {
        keep([row.number], from: all)
        places[row.place] = all.places[row.place]
        keep(places[row.place]?.numbers ?? [], from: all)
        successors[row.number] = all.successors[row.number]
        keep(successors[row.number]?.numbers ?? [], from: all)
        guard let file = row.file else { return }
        fileRows[file] = all.fileRows[file]
        fileNames[file] = all.fileNames[file]
        lastContents[file] = all.lastContents[file]
        notedContents[file] = all.notedContents[file]
        keep((fileRows[file]?.numbers ?? []) + (fileNames[file] ?? []).map(\.number), from: all)
        let document = row.document
        documentRows[document] = all.documentRows[document]
        documentNames[document] = all.documentNames[document]
        departures[document] = all.departures[document]
        documentVersions[document] = all.documentVersions[document]
        rivals[document] = all.rivals[document]
        let departure = departures[document].flatMap(\.self).map { [$0] } ?? []
        let names = (documentNames[document] ?? []).map(\.number)
        keep((documentRows[document]?.numbers ?? []) + names + departure, from: all)
        for number in (documentVersions[document]?.numbers ?? []) + (rivals[document]?.numbers ?? []) {
            keep(number, from: all)
        }
    }

    private mutating func keep(_ numbers: [RowNumber], from all: KnownFacts) {
        for number in numbers {
            rows[number] = all.rows[number]
            purged[number] = all.purged[number]
        }
    }

    private mutating func keep(_ number: VersionNumber, from all: KnownFacts) {
        guard let version = all.versions[number] else { return }
        versions[number] = version
        if all.settled.contains(number) { settled.insert(number) }
        origins[number] = all.origins[number]
        contents[version.content] = all.contents[version.content]
        for other in contents[version.content]?.numbers ?? [] where versions[other] == nil {
            versions[other] = all.versions[other]
            if all.settled.contains(other) { settled.insert(other) }
        }
    }

    /// Whether only this memory has the row: of a name that is not published, or of one that went unpublished.
    private func isUntold(_ row: NameRow) -> Bool {
        if row.file != nil { return row.maker != nil }
        return places[row.place]?.numbers.last { $0 < row.number }.flatMap { rows[$0] }?.maker != nil
    }

    private func isLast(_ row: NameRow) -> Bool { places[row.place]?.numbers.last == row.number }
}
