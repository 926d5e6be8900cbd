// The change feed (facts.md 1 and 5).

extension Facts {
    /// The facts that listeners hear of a transaction that is about to be recorded, in its order.
    ///
    /// | recorded | told |
    /// |---|---|
    /// | an unpublished name, its removal, its versions, and their changes | nothing |
    /// | the publication of a name | the name, its versions with their changes, and its removal, if it is left |
    /// | any other fact | the fact |
    ///
    /// A name that is published late keeps its number. So the row with the largest number says which file a place has,
    /// not the row that was told last.
    public func feed(of recorded: [Fact]) -> [Fact] {
        var facts = self
        var told: [Fact] = []
        for fact in recorded {
            told += facts.told(fact)
            facts.apply(fact)
        }
        return told
    }

    private func told(_ fact: Fact) -> [Fact] {
        switch fact {
        case .row(let row): isTold(row) ? [fact] : []
        case .version(let version), .amend(let version): isTold(version) ? [fact] : []
        case .settle(let version), .forget(let version): self[version].map(isTold) ?? false ? [fact] : []
        case .publish(let row): self[row].map(published) ?? []
        case .purge: [fact]
        }
    }

    /// Whether everyone sees a row: an unpublished name leaves its place as quietly as it came.
    public func isTold(_ row: NameRow) -> Bool {
        if row.file != nil { return row.maker == nil }
        return lastOccupant(of: row.place, before: row.number).map { $0.maker == nil } ?? true
    }

    /// Whether everyone sees a version: one of a published name.
    public func isTold(_ version: VersionRow) -> Bool { self[version.row].map(isTold) ?? false }

    private func published(_ row: NameRow) -> [Fact] {
        guard row.maker != nil else { return [] }
        var shown = row
        shown.maker = nil
        let versions = versions(of: row.document).filter { $0.row == row.number }
        let settled = versions.map(\.number).filter(isSettled).map(Fact.settle)
        let removal = departure(of: row).flatMap { $0.file == nil ? Fact.row($0) : nil }
        return [.row(shown)] + versions.map(Fact.version) + settled + (removal.map { [$0] } ?? [])
    }
}
