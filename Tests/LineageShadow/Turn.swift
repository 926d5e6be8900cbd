import Lineage
import VersionModel

/// A name that appears, and shows another document today than by the rules.
struct Turn {
    /// The row by which it appeared.
    var row: NameRow
    /// The row by which the name had been left; nil if it had not.
    var vacated: NameRow?
    /// The document that the name had before.
    var document: DocumentNumber
    /// That of the file which was renamed to it.
    var arrived: DocumentNumber?
    /// Whether the rules let the former document come back, and the container goes on with what arrived, or with a new
    /// one; else it is the other way round.
    var isBack: Bool
    var change: ListedChange
}

extension Turn {
    static func all(of shadow: Shadow) -> [Turn] {
        var turns: [Turn] = []
        for row in shadow.facts.rows where row.file != nil && !row.hasNoVersions && row.how != .linked {
            let turn = row.isContinuing ? comingBack(row, shadow, turns) : staying(row, shadow)
            if let turn { turns.append(turn) }
        }
        return turns
    }

    /// | the document | the container |
    /// |---|---|
    /// | was left before a kill | has forgotten it |
    /// | had other names when this one was removed | does not remember that one |
    /// | was left by a rename with one version | has a new one, or the file's own |
    /// | the same, by a rename over another document, and the file goes back | goes on with that |
    /// | has never been saved, and is renamed over | has the file's own |
    private static func comingBack(_ row: NameRow, _ shadow: Shadow, _ earlier: [Turn]) -> Turn? {
        let facts = shadow.facts
        let former = row.from.flatMap { facts[$0] }
        let vacated = facts.vacated(before: row)
        let hasGoneBack = former.map { $0.isContinuing && $0.from.flatMap { facts[$0] }?.place == row.place } ?? false
        func turn(_ change: ListedChange) -> Turn {
            Turn(
                row: row, vacated: vacated, document: row.document,
                arrived: former.flatMap { $0.document == row.document ? nil : $0.document }, isBack: true,
                change: change)
        }
        guard let vacated else {
            let isUnsaved = !facts.versions(of: row.document).contains { $0.number.number < row.number.number }
            return row.how == .moved && isUnsaved ? turn(.unsavedOccupant) : nil
        }
        if shadow.kills.contains(where: { vacated.number.number <= $0 && $0 < row.number.number }) {
            return turn(.leftBeforeKill)
        }
        let hadOtherName = facts.rows(of: row.document).contains { other in
            guard other.place != row.place, other.number < vacated.number else { return false }
            return facts.departure(of: other).map { $0.number > vacated.number } ?? true
        }
        if vacated.how.isRemoval, hadOtherName { return turn(.oneOfSeveral) }
        let isOfOneVersion = !vacated.how.isRemoval && countToday(row.document, vacated, facts, earlier) == 1
        return isOfOneVersion ? turn(hasGoneBack ? .backFromOver : .cameBack) : nil
    }

    /// How many versions the container's document had when a name was left. If names had other documents before, it is
    /// another one than that of the rules.
    private static func countToday(
        _ document: DocumentNumber, _ vacated: NameRow, _ facts: Facts, _ earlier: [Turn]
    ) -> Int {
        let listing = facts.listing(of: document).filter { $0.number < vacated.number.number }
        guard let last = earlier.last(where: { $0.row.document == document }) else { return listing.count }
        let own = facts.versions(of: document).filter { version in
            listing.contains(version.number) && version.number.number > last.row.number.number
        }
        // What arrived was a version before, and not once more.
        let isArrival = own.first.map { last.isBack && last.row.how == .moved && $0.row == last.row.number } ?? false
        let before = last.isBack ? last.arrived : last.document
        let former = before.map { facts.listing(of: $0, before: last.row).count } ?? 0
        return former + own.count - (isArrival ? 1 : 0)
    }

    private static func staying(_ row: NameRow, _ shadow: Shadow) -> Turn? {
        let facts = shadow.facts
        guard let vacated = facts.vacated(before: row), let change = shadow.staysAway(vacated),
            let last = facts.lastOccupant(of: row.place, before: vacated.number)
        else { return nil }
        let isMoved = row.how == .moved && row.document.number != row.number.number
        return Turn(
            row: row, vacated: vacated, document: last.document, arrived: isMoved ? row.document : nil, isBack: false,
            change: change)
    }
}

extension Facts {
    /// The row before another at its place, if that had left it free.
    func vacated(before row: NameRow) -> NameRow? {
        rows.last { $0.place == row.place && $0.number < row.number }.flatMap { $0.file == nil ? $0 : nil }
    }

    /// What the list of a document shows that was saved under names from before a row.
    func listing(of document: DocumentNumber, before row: NameRow) -> [VersionNumber] {
        listing(of: document).filter { version in self[version].map { $0.row < row.number } ?? false }
    }

    /// Whether a document is a copy that nobody has saved before a row.
    func isUnsavedCopy(_ document: DocumentNumber, before row: NameRow) -> Bool {
        firstRow(of: document)?.isParted ?? false
            && !versions(of: document).contains { $0.number.number < row.number.number }
    }
}

extension Shadow {
    /// Why the document that a place had does not come back to it, as it would today.
    fileprivate func staysAway(_ vacated: NameRow) -> ListedChange? {
        guard let last = facts.lastOccupant(of: vacated.place, before: vacated.number) else { return nil }
        if facts.isUnsavedCopy(last.document, before: vacated) { return .isUnsavedCopy }
        let isElsewhere = facts.rows(of: last.document).contains { row in
            guard row.place != vacated.place, vacated.how.isRemoval || row.number < vacated.number else { return false }
            return facts.departure(of: row).map { $0.number > vacated.number } ?? true
        }
        if isElsewhere { return .hasOtherName }
        let next = facts.departure(of: vacated)?.number ?? RowNumber(.max)
        let former = facts.rows(of: last.document)
        let hasReturned = former.contains { row in
            guard row.number > vacated.number, row.number < next else { return false }
            return row.how == .undeleted || isOnWay(row.place, to: last)
                || former.contains { $0.place == row.place && $0.number < vacated.number }
        }
        if hasReturned { return .hasReturned }
        // Versions that the container has not made by then.
        let atHome = facts.versions(of: last.document).filter {
            $0.isAtHome && $0.row > vacated.number && $0.row < next
        }
        if atHome.contains(where: { savedUnseen.contains($0.number) }) { return .settledUnseen }
        if atHome.contains(where: { unfinished.contains($0.number) }) { return .savedFirst }
        if atHome.contains(where: { shared[$0.number] != nil }) { return .writtenTogether }
        // It had lost that name by the close.
        let isLate = atHome.contains { version in
            let departure = facts[version.row].flatMap { facts.departure(of: $0) }
            return departure.map { $0.number.number < version.number.number } ?? false
        }
        return isLate ? .savedWithoutName : nil
    }

    /// Whether a file had this place before it came to that row.
    private func isOnWay(_ place: PlaceNumber, to row: NameRow) -> Bool {
        var former = row.from.flatMap { facts[$0] }
        while let stop = former {
            if stop.place == place { return true }
            former = stop.from.flatMap { facts[$0] }
        }
        return false
    }
}
