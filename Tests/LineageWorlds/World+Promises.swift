// What programs may count on: judged from the events, beside the rules.

import Lineage
import VersionModel

extension World {
    /// The contents that an event acknowledges.
    ///
    /// - A close, of what the handle has written, unless the file is scrap that its maker has taken away.
    /// - A rename, an exchange, and a truncation by name, of what the names show then; except what is being written.
    func promise(_ event: Event, _ plan: Plan) -> [Acknowledged] {
        var promised: [FileID] = []
        let author: ActorNumber
        switch event {
        case .seal(_, goesOn: true): return []
        case .close(let number), .seal(let number, _):
            guard let handle = memory[number], let file = memory[handle.file], file.isChanged, handle.mode != .read,
                handle.isDirty || handle.isUnseen, !(handle.isReplacing && file.fingerprint.isEmpty),
                !isScrap(handle.file)
            else { return [] }
            (promised, author) = ([handle.file], handle.actor)
        case .rename(let actor, let from, let to, _):
            guard let file = disk.file(at: from), file != disk.file(at: to), let live = memory[file],
                !(live.isChanged && memory.isOpenForWriting(file)), isShownBySave(at: to, plan)
            else { return [] }
            (promised, author) = ([file], actor)
        case .exchange(let actor, let one, let other):
            // The exchange of two names of one file is nothing.
            guard disk.hasFile(at: one), disk.hasFile(at: other), disk.file(at: one) != disk.file(at: other) else {
                return []
            }
            (promised, author) = ([disk.file(at: one), disk.file(at: other)].compactMap { $0 }, actor)
        case .save(let actor, let place): (promised, author) = ([disk.file(at: place)].compactMap { $0 }, actor)
        default: return []
        }
        return promised.compactMap { file in
            guard let content = disk[file]?.content, !content.isEmpty else { return nil }
            return Acknowledged(content: content, file: file, actor: author)
        }
    }

    /// Whether a content is one that programs have given up by this: a version of a name that its maker removed, whose
    /// author is kin of the maker, or one of a purged document, in any file that such a one had. A document that goes
    /// with a purged one is purged, too: a purge removes for good (DESIGN.md 7), and the content would be shown as that
    /// document's. So does what a copy began with that nobody wanted any more. What a close has acknowledged is never
    /// given up otherwise, also not by amending: its handle writes no more.
    func isWithdrawn(_ content: Acknowledged, by plan: Plan) -> Bool {
        let removals = plan.facts.compactMap { if case .purge(let removal) = $0 { removal } else { nil } }
        let isPurge = !removals.isEmpty
        // A content that went with a purge before may have stayed as another document's, which goes only now.
        let documents = isPurge ? documents(goneBy: facts.purged.map(\.removal) + removals) : []
        return plan.facts.contains { fact in
            guard case .forget(let number) = fact, let version = facts[number] else { return false }
            let hasContent =
                version.fingerprint == content.content
                || version.isAppended && version.fingerprint.begins(with: content.content)
            // A file may have been saved with what its document had already as a version of another file.
            let isUnwanted = !isPurge && facts[version.row]?.maker == nil
            if hasContent, isUnwanted { return true }
            if hasContent, version.file == content.file { return isPurge || isMakers(content, version) }
            return isPurge && hasContent
                && facts.rows.contains { row in
                    row.file == content.file
                        && (documents.contains(row.document) || row.document == facts.document(of: version)
                            || !facts.needsOrigin(row.document))
                }
        }
    }

    /// The documents whose entries were purged, and those that were renamed over one of these and showed no more than
    /// they do.
    private func documents(goneBy removals: [RowNumber]) -> [DocumentNumber] {
        var gone = removals.compactMap { facts[$0] }.compactMap { row in
            facts.lastOccupant(of: row.place, before: row.number)?.document
        }.filter { !facts.hasName($0) }
        var count = 0
        while count < gone.count {
            count = gone.count
            let contents = gone.flatMap(facts.versions(of:)).map(\.fingerprint)
            for row in facts.rows where row.file != nil && !gone.contains(row.document) {
                guard !facts.hasName(row.document),
                    case .movedAway(let next?) = facts.lastDeparture(of: row.document)?.how,
                    let successor = facts[next]?.document, gone.contains(successor),
                    facts.versions(of: row.document).allSatisfy({ contents.contains($0.fingerprint) })
                else { continue }
                gone.append(row.document)
            }
        }
        return gone
    }

    private func isMakers(_ content: Acknowledged, _ version: VersionRow) -> Bool {
        guard let author = content.actor, let document = facts.document(of: version),
            let maker = facts.firstRow(of: document)?.maker
        else { return true }
        return kin.areKin(maker, author)
    }

    private func isScrap(_ file: FileID) -> Bool {
        !disk.hasName(file) && facts.lastRow(of: file).map { $0.maker != nil } ?? true
    }

    private func isShownBySave(at place: PlaceNumber, _ plan: Plan) -> Bool {
        plan.facts.contains { fact in
            guard case .row(let row) = fact else { return false }
            let isRecorded = row.file.flatMap { memory[$0]?.holds } != nil
            return row.place == place && (row.isContinuing || row.how == .created && isRecorded)
        }
    }
}
