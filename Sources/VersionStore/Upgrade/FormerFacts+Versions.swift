// The version rows of an upgrade.

import Lineage
import VersionModel

extension FormerFacts {
    mutating func write(
        _ index: Int32, version: (Int64) throws -> Version?, to sink: inout some UpgradeSink
    ) throws {
        let former = records.versions[Int(index)]
        guard numbers[Int(index)] == 0 else { return }
        // The copy that a parted document began with is its origin, once the document has parted.
        if isCopy(index) { return deferred.formUnion([index]) }
        guard let record = try version(former.row) else { return }
        if lastRows[Int(former.document)] == 0 { try writePassed(ofDocument: former.document, record.saved, to: &sink) }
        let content = contents.content(former.content)
        let number = takeNumber()
        numbers[Int(index)] = number
        let current = records.current(of: former.document)
        var row = VersionRow(
            number: VersionNumber(number), time: record.saved, row: RowNumber(lastRows[Int(former.document)]),
            content: content, fingerprint: Self.fingerprint(record, in: content), file: content.file,
            modified: record.modified, author: try actor(record.author, to: &sink))
        let live = current == index ? liveStay(of: former.document) : nil
        if let live { row.file = live.file }
        row.parents = parents(of: index)
        row.base = base(of: index, record, row.parents)
        row.loser = rivals.losers[index].map { numbers[Int($0)] }.flatMap { $0 == 0 ? nil : VersionNumber($0) }
        row.beside = beside(index, current)
        row.isAppended = isAppended(index)
        row.isAtHome = row.beside == .no
        var detail = VersionDetail(
            hash: record.hash, attributes: record.attributes, marks: record.flags.marks, alias: record.id)
        if live != nil { detail.changed = records.documents[Int(former.document)].file.changed }
        if !detail.marks.contains(.lost), !contents.isThere(former.content) {
            detail.marks.insert(.lost)
            written.lost += 1
        }
        written.versions += 1
        try sink.put(row, detail)
    }

    private static func fingerprint(_ version: Version, in content: Content) -> Fingerprint {
        if version.size == 0 { return .empty }
        guard let hash = version.hash, hash.count == 32 else {
            return .unknown(version.size, in: content, modified: version.modified)
        }
        return Fingerprint(hash: hash, size: version.size)
    }

    /// Whether a version is the copy that its document begins with, and the document's first row is still to come.
    private func isCopy(_ index: Int32) -> Bool {
        let document = records.versions[Int(index)].document
        return firstRows[Int(document)] == 0 && origins.versions[document] != nil
            && records.versions(of: document).first == index
    }

    /// Copies whose originals have no number when their documents part: they are versions like others.
    mutating func writeLate(version: (Int64) throws -> Version?, to sink: inout some UpgradeSink) throws {
        while let copy = late.popLast() { try write(copy, version: version, to: &sink) }
    }

    /// The present stay of a document whose file holds its current version.
    private func liveStay(of document: Int32) -> Stay? {
        guard !records.documents[Int(document)].isReturning, !records.documents[Int(document)].places.isEmpty else {
            return nil
        }
        return names.stays(of: document).map { names.stays[Int($0)] }.first { $0.end == Stay.none }
    }

    // MARK: The graph

    /// The number of a version that is recorded before the next one.
    private func number(of id: VersionID) -> VersionNumber? {
        guard let index = records.index(of: id) else { return missing[id].map { VersionNumber($0) } }
        return number(ofVersion: index)
    }

    /// A copy has the number of its original, also before the document has parted.
    func number(ofVersion index: Int32) -> VersionNumber? {
        var index = index
        while numbers[Int(index)] == 0, isCopy(index),
            let origin = origins.versions[records.versions[Int(index)].document]
        {
            index = origin
        }
        return numbers[Int(index)] == 0 ? nil : VersionNumber(numbers[Int(index)])
    }

    /// Facts have two parents at most: the first, and the newest of the others. A version that resolved more than one
    /// conflict loses the others; what they were is history all the same. No parent is later than its child.
    private mutating func parents(of index: Int32) -> Parents {
        let own = VersionNumber(numbers[Int(index)])
        let named = records.parents(of: index)
        var found: [VersionNumber] = []
        for number in named.compactMap(number) where number < own && !found.contains(number) { found.append(number) }
        let kept = Parents(found.first, found.dropFirst().max())
        written.parentsLeftOut += named.count - (kept.first == nil ? 0 : 1) - (kept.second == nil ? 0 : 1)
        return kept
    }

    /// Format 1 records the base of a save that won with the version that lost.
    private mutating func base(of index: Int32, _ record: Version, _ parents: Parents) -> VersionNumber? {
        if let winner = rivals.winners[index] {
            if let base = record.base { basesOfWinners[winner] = base }
            return parents.first
        }
        let base = record.base ?? basesOfWinners.removeValue(forKey: index)
        return base.flatMap(number).flatMap { $0.number < numbers[Int(index)] ? $0 : nil }
    }

    /// Nothing that was saved after the current version has been that.
    private func beside(_ index: Int32, _ current: Int32?) -> Beside {
        let version = records.versions[Int(index)]
        if index == current { return .no }
        if rivals.beside.contains(index) { return .conflict }
        if version.flags.contains(.beside) { return .history }
        guard let current, case let shown = records.versions[Int(current)] else { return .no }
        return (version.time, index) > (shown.time, current) ? .history : .no
    }

    private func isAppended(_ index: Int32) -> Bool {
        let version = records.versions[Int(index)]
        let range = records.documents[Int(version.document)].versions
        guard let parent = records.parents(of: index).first.flatMap({ records.index(of: $0) }), !range.isEmpty else {
            return false
        }
        let before = records.versions[Int(parent)]
        return before.content == version.content && before.size < version.size
    }

    // MARK: Deleted files

    /// The entry of a deleted document holds its current version. One of a name only stands for it.
    mutating func moveEntries(version: (Int64) throws -> Version?, to sink: inout some UpgradeSink) throws {
        for (index, deletion) in records.deletions.enumerated() {
            if deletion.type == .link { try sink.put(EntryMove(deletion: deletion.id, kept: nil)) }
            guard deletion.type == .file, let document = names.documents[index],
                let current = records.current(of: document),
                contents.entries[records.versions[Int(current)].content] == Int32(index),
                let record = try version(records.versions[Int(current)].row)
            else { continue }
            try sink.put(move(deletion, record))
        }
    }

    private func move(_ deletion: Deletion, _ version: Version) -> EntryMove {
        var version = version
        version.kind = .history
        return EntryMove(
            deletion: deletion.id,
            kept: ContentStore.Label(version: version, path: deletion.path, place: deletion.place))
    }

    /// A deleted file without versions gets one, so that its content is kept as others are.
    mutating func writeEntry(of document: Int32, _ name: NameRow, to sink: inout some UpgradeSink) throws {
        let former = records.documents[Int(document)]
        guard let index = former.entry else { return }
        let deletion = records.deletions[Int(index)]
        let status = files.status(of: deletion.id)
        let size = status?.size ?? deletion.size
        let modified = status?.modified ?? deletion.deleted
        let id = former.id.map { VersionID(derivedFrom: $0, size: size, modified: modified) }
            ?? VersionID(high: deletion.id.low, low: deletion.id.high)
        // The 16 bytes of the deletion's id are no other content's.
        let version = Version(
            id: id, item: former.id ?? ItemID(high: deletion.id.high, low: deletion.id.low), kind: .current,
            content: ContentID(high: deletion.id.high, low: deletion.id.low), size: size, modified: modified,
            saved: modified, time: HybridTime(wall: modified, logical: 0), device: DeviceID(high: 0, low: 0),
            author: deletion.author, attributes: deletion.attributes)
        let content = Content(file: FileID(version.content.high), generation: version.content.low)
        var row = VersionRow(
            number: VersionNumber(takeNumber()), time: modified, row: name.number, content: content,
            fingerprint: Self.fingerprint(version, in: content), file: deletion.file, modified: modified, author: nil)
        row.isAtHome = true
        var detail = VersionDetail(attributes: deletion.attributes)
        if former.id != nil { detail.alias = id }
        if status == nil {
            detail.marks = .lost
            written.lost += 1
        }
        written.versions += 1
        try sink.put(row, detail)
        if status != nil { try sink.put(move(deletion, version)) }
    }
}
