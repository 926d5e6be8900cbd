// By which rule of facts.md two answers differ: told by the facts alone.

import Lineage
import VersionModel

/// Looks into the facts for what makes a difference one that is meant.
struct Explanation {
    private let shadow: Shadow
    private var facts: Facts { shadow.facts }

    init(_ shadow: Shadow) { self.shadow = shadow }

    func change(for difference: Difference) -> ListedChange? {
        switch difference.subject {
        case .conflicts: shadow.place(difference.name).flatMap { conflict(at: $0) ?? staysAway(from: $0, difference) }
        case .history: shadow.place(difference.name).flatMap { history(at: $0, difference) }
        case .deleted: deleted(difference)
        case .superseded: superseded(difference)
        case .tree, .content: nil
        }
    }

    // MARK: Conflicts

    /// | the winner's author | |
    /// |---|---|
    /// | knows the loser's document from before it had its name | has seen it elsewhere |
    /// | has renamed its file to a name that it had removed | has removed and replaced it |
    private func conflict(at place: PlaceNumber) -> ListedChange? {
        guard let document = facts.occupant(of: place)?.document else { return nil }
        for winner in facts.versions(of: document).reversed() where winner.loser != nil {
            if let base = winner.base, facts.document(of: base) != document { return .seenElsewhere }
            guard let row = facts[winner.row], row.isContinuing, let before = vacated(before: row) else { continue }
            if before.how.isRemoval { return .removedAndReplaced }
        }
        return nil
    }

    // MARK: Histories

    /// | what the container shows | the place | |
    /// |---|---|---|
    /// | less | was left by a rename, and its document had one version | it came back |
    /// | more | is free of a document that is elsewhere, too, or of an unsaved copy | that does not come back |
    private func history(at place: PlaceNumber, _ difference: Difference) -> ListedChange? {
        if difference.onlyToday.isEmpty, isShared(difference.onlyThen) { return .writtenTogether }
        if difference.onlyToday.isEmpty, let stayed = staying(at: place) { return stayed }
        let hasArrived = facts.occupant(of: place).map { $0.isContinuing && $0.how == .moved } ?? false
        if difference.onlyToday.isEmpty || hasArrived, cameBack(to: place) { return .cameBack }
        if difference.onlyThen.isEmpty, hasGoneBack(to: place) { return .backFromOver }
        return staysAway(from: place, difference)
    }

    /// Whether the document of a place had one version when a rename took it from a name that it came back to.
    private func cameBack(to place: PlaceNumber) -> Bool {
        guard let document = facts.occupant(of: place)?.document else { return false }
        return facts.rows(of: document).contains { row in
            guard row.isContinuing, let vacated = vacated(before: row), !vacated.how.isRemoval else { return false }
            return facts.listing(of: document).filter { $0.number < vacated.number.number }.count == 1
        }
    }

    /// Whether a file was renamed over another, and then back.
    private func hasGoneBack(to place: PlaceNumber) -> Bool {
        guard let former = facts.occupant(of: place)?.from.flatMap({ facts[$0] }), former.isContinuing else {
            return false
        }
        return former.from.flatMap { facts[$0] }?.place == place
    }

    private func superseded(_ difference: Difference) -> ListedChange? {
        if difference.onlyThen.isEmpty { return isBehindOrigins(difference.onlyToday) ? .isBehindOrigin : nil }
        let places = shadow.places.indices.map { PlaceNumber(UInt32($0)) }
        return places.contains(where: hasGoneBack) ? .backFromOver : nil
    }

    /// The same for a place that shows less than it does today.
    private func staysAway(from place: PlaceNumber, _ difference: Difference) -> ListedChange? {
        guard difference.onlyThen.isEmpty, let row = firstRow(at: place), !row.isContinuing else { return nil }
        return vacated(before: row).flatMap(staysAway)
    }

    /// Why a document is at this place as it was, and not at another one that was free of it.
    private func staying(at place: PlaceNumber) -> ListedChange? {
        guard let document = facts.occupant(of: place)?.document else { return nil }
        for departure in facts.rows.reversed() where departure.file == nil && departure.place != place {
            guard facts.lastOccupant(of: departure.place, before: departure.number)?.document == document,
                let next = facts.departure(of: departure), next.file != nil, !next.isContinuing
            else { continue }
            return staysAway(departure)
        }
        return nil
    }

    /// Whether living documents have these histories behind what they began with.
    private func isBehindOrigins(_ histories: [String]) -> Bool {
        let living = shadow.places.indices.compactMap { facts.occupant(of: PlaceNumber(UInt32($0))) }
        var shown = Set(living.flatMap { facts.history(of: $0.document) })
        shown.formUnion(facts.deleted().flatMap { facts.listing(of: $0.occupant.document) })
        let contents = Set(shown.compactMap(facts.fingerprint))
        let all = Set(facts.rows.map(\.document)).filter { document in
            facts.listing(of: document).allSatisfy { facts.fingerprint($0).map(contents.contains) ?? false }
        }
        let texts = all.map { "\(facts.listing(of: $0).map(shadow.text))" }
        return histories.allSatisfy(texts.contains)
    }

    private func isShared(_ contents: [String]) -> Bool {
        let shared = shadow.shared.map(shadow.text)
        return contents.allSatisfy(shared.contains)
    }

    /// Why the document that a place had does not come back to it.
    private func staysAway(_ vacated: NameRow) -> ListedChange? {
        guard let last = facts.lastOccupant(of: vacated.place, before: vacated.number) else { return nil }
        if isUnsavedCopy(last.document, before: vacated) { return .isUnsavedCopy }
        let isElsewhere = facts.rows(of: last.document).contains { row in
            guard row.place != vacated.place, vacated.how.isRemoval || row.number < vacated.number else { return false }
            return facts.departure(of: row).map { $0.number > vacated.number } ?? true
        }
        if isElsewhere { return .hasOtherName }
        let next = facts.departure(of: vacated)?.number ?? RowNumber(.max)
        let former = facts.rows(of: last.document)
        let hasReturned = former.contains { row in
            guard row.number > vacated.number, row.number < next else { return false }
            return row.how == .undeleted || former.contains { $0.place == row.place && $0.number < vacated.number }
        }
        return hasReturned ? .hasReturned : nil
    }

    private func isUnsavedCopy(_ document: DocumentNumber, before row: NameRow) -> Bool {
        facts.firstRow(of: document)?.isParted ?? false
            && !facts.versions(of: document).contains { $0.number.number < row.number.number }
    }

    // MARK: The deleted list

    private func deleted(_ difference: Difference) -> ListedChange? {
        let today = difference.onlyToday.map { entry in departures(of: entry).lazy.compactMap(missing).first }
        let then = difference.onlyThen.map { entry in departures(of: entry).lazy.compactMap(added).first }
        let all = today + then
        return all.contains(nil) ? nil : all.first ?? nil
    }

    /// The rows by which the name of an entry went, newest first.
    private func departures(of entry: String) -> [NameRow] {
        facts.rows.reversed().filter { row in
            row.how.isRemoval && shadow.departures[row.number].map { entry.hasPrefix("\($0): ") } ?? false
        }
    }

    private func missing(_ departure: NameRow) -> ListedChange? {
        guard let last = facts.lastOccupant(of: departure.place, before: departure.number) else { return nil }
        if departure.how == .hidden, isUnsavedCopy(last.document, before: departure) { return .removedByMover }
        let hadOthers = facts.rows.contains { row in
            guard row.file == last.file, row.place != last.place, row.number < departure.number else { return false }
            return facts.departure(of: row).map { $0.number > departure.number } ?? true
        }
        return departure.how == .removed && hadOthers ? .oneOfSeveral : nil
    }

    private func added(_ departure: NameRow) -> ListedChange? {
        let last = facts.lastOccupant(of: departure.place, before: departure.number)
        if let last, isUnsavedCopy(last.document, before: departure) { return .isUnsavedCopy }
        return facts.occupant(of: departure.place) == nil ? nil : staysAway(departure)
    }

    // MARK: Rows

    /// The row by which the document of a place came to it.
    private func firstRow(at place: PlaceNumber) -> NameRow? {
        guard let last = facts.occupant(of: place) else { return nil }
        var first = last
        for row in facts.rows.reversed() where row.place == place && row.number < last.number {
            guard row.file != nil, row.document == last.document else { break }
            first = row
        }
        return first
    }

    /// The row before another at its place, if that had left it free.
    private func vacated(before row: NameRow) -> NameRow? {
        facts.rows.last { $0.place == row.place && $0.number < row.number }.flatMap { $0.file == nil ? $0 : nil }
    }
}
