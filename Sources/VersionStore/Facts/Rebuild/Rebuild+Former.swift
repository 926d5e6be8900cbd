// Labels of format 1, and those whose numbers count for nothing: their versions are found again by identities and time.

import CLinux
import Lineage
import SystemPackage
import VersionModel

extension Rebuild {
    /// Deleted files of format 1 that have not become objects yet do so now. One that only stood for a name goes.
    func entries(_ deletions: [Deletion]) throws(Errno) -> [ContentStore.Label] {
        var labels: [ContentStore.Label] = []
        for deletion in deletions where deletion.type == .file || deletion.type == .link {
            guard deletion.type == .file else {
                try state.deletedArea.remove(deletion.id)
                continue
            }
            // The 16 bytes of the deletion's id are no other content's.
            let (directory, name) = state.deletedArea.place(of: deletion.id)
            let status = try System.extendedStatus(name, in: directory)
            let version = Version(
                id: VersionID(high: deletion.id.low, low: deletion.id.high),
                item: deletion.item ?? ItemID(high: deletion.id.high, low: deletion.id.low), kind: .history,
                content: ContentID(high: deletion.id.high, low: deletion.id.low), size: status.size,
                modified: status.modification, saved: status.modification,
                time: HybridTime(wall: deletion.deleted, logical: 0), device: DeviceID(high: 0, low: 0),
                author: deletion.author, attributes: deletion.attributes)
            let label = ContentStore.Label(version: version, path: deletion.path, place: deletion.place)
            try state.deletedArea.moveToContents(deletion.id, as: version.content, label)
            labels.append(label)
        }
        return labels
    }

    /// Documents by their identities, versions in the order of their times.
    mutating func takeFormer(_ labels: [ContentStore.Label]) {
        var numbers: [VersionID: VersionNumber] = [:]
        var documents: [ItemID: (document: DocumentNumber, rows: [PlaceNumber: RowNumber])] = [:]
        var joined: [DocumentNumber: DocumentNumber] = [:]
        let known = knownDocuments
        // The first label of an object is of the document that had it last.
        let ordered = labels.enumerated().sorted {
            ($0.element.version.time, $1.offset) < ($1.element.version.time, $0.offset)
        }.map(\.element)
        for label in ordered where numbers[label.version.id] == nil {
            let said = label.version
            let place = place(label.place, at: label.path)
            var document = documents[said.item]
            let home: RowNumber
            // A label without a name says nothing of where the document was.
            let isNameless = label.path.bytes.isEmpty
            if let row = document?.rows[place] ?? (isNameless ? document?.rows.values.max() : nil) {
                home = row
            } else {
                home = RowNumber(takeNumber())
                let first = document?.document ?? DocumentNumber(home.number)
                var row = NameRow(
                    number: home, time: said.saved, place: place, file: FileID(said.content.high), how: .found,
                    actor: nil)
                row.document = first
                rows[home.number] = row
                if document == nil, ids.id(home.number) != said.item {
                    details.names[home] = NameDetail(document: said.item)
                }
                if document == nil, let number = known[said.item] { joined[number] = first }
                document = (first, document?.rows ?? [:])
                document?.rows[place] = home
                documents[said.item] = document
            }
            let number = VersionNumber(takeNumber())
            numbers[said.id] = number
            var version = version(said, number, home, numbers)
            details.versions[number] = VersionDetail(
                hash: said.hash, attributes: said.attributes,
                marks: said.flags.contains(.unfinished) ? .unfinished : [], alias: said.id)
            cutToPresent(&version)
            versions[number.number] = version
        }
        for (number, row) in rows {
            guard let document = joined[row.document] else { continue }
            rows[number]?.document = document
            // The first row has the identity.
            details.names[row.number]?.document = nil
        }
    }

    /// The documents of labels with facts, by their identities.
    private var knownDocuments: [ItemID: DocumentNumber] {
        var known: [ItemID: DocumentNumber] = [:]
        for row in rows.values where !row.hasNoVersions {
            if let id: ItemID = ids.id(row.document.number) { known[id] = row.document }
            if let id = details.names[RowNumber(row.document.number)]?.document { known[id] = row.document }
        }
        return known
    }

    private mutating func version(
        _ said: Version, _ number: VersionNumber, _ row: RowNumber, _ numbers: [VersionID: VersionNumber]
    ) -> VersionRow {
        let content = Content(said.content)
        var bytes = Fingerprint.unknown(said.size, in: content, modified: said.modified)
        if said.size == 0 { bytes = .empty }
        if let hash = said.hash, hash.count == 32, said.size > 0 { bytes = Fingerprint(hash: hash, size: said.size) }
        let isRead = said.hash == nil && said.size <= ContentPrefix.mostHashed
        if isRead, let object = try? state.contents.open(said.content) {
            defer { System.close(object) }
            let read = try? ContentPrefix.fingerprint(of: object, said.size, in: content, modified: said.modified)
            bytes = read ?? bytes
        }
        var version = VersionRow(
            number: number, time: said.saved, row: row, content: content, fingerprint: bytes, file: content.file,
            modified: said.modified, author: self.number(of: said.author))
        var parents = said.parents.compactMap { numbers[$0] ?? self.known($0) }.filter { $0 < number }[...]
        version.parents = Parents(parents.popFirst(), parents.popFirst())
        version.base = said.base.flatMap { numbers[$0] }
        if said.kind == .conflict { version.beside = .conflict }
        if said.flags.contains(.beside) { version.beside = .history }
        return version
    }

    private func known(_ id: VersionID) -> VersionNumber? {
        ids.number(of: id).flatMap { versions[$0] }?.number
    }
}
