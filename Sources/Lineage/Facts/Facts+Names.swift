// What the rows say of places and files (facts.md 1, "Derived by pure functions").

import VersionModel

extension Facts {
    // MARK: Places

    /// The last row of a place.
    public func lastRow(at place: PlaceNumber) -> NameRow? {
        rows.last { $0.place == place } ?? log.flatMap { $0.log.lastRow(at: place) }.map(now)
    }

    /// The row by which a place has its file now; nil if the place is free.
    public func occupant(of place: PlaceNumber) -> NameRow? { lastRow(at: place).flatMap { $0.file == nil ? nil : $0 } }

    /// The last row before a moment that gave the place a file.
    public func lastOccupant(of place: PlaceNumber, before number: RowNumber? = nil) -> NameRow? {
        let last = rows.last { row in row.place == place && row.file != nil && number.map { row.number < $0 } ?? true }
        return last ?? log.flatMap { $0.log.lastOccupant(of: place, before: number ?? RowNumber(.max)) }.map(now)
    }

    /// The first row after this one at the same place: by it the file left the place, or the document did.
    public func departure(of row: NameRow) -> NameRow? {
        if let log, let departure = log.log.firstRow(at: row.place, after: row.number) { return now(departure) }
        return rows.first { $0.number > row.number && $0.place == row.place }
    }

    /// Whether the row says what its place has now.
    public func isLiving(_ row: NameRow) -> Bool {
        guard row.file != nil, !rows.reversed().contains(where: { $0.number > row.number && $0.place == row.place })
        else { return false }
        return log.map { $0.log.firstRow(at: row.place, after: row.number) == nil } ?? true
    }

    /// The rows that say of their file that it had its name by this row before.
    func successors(of number: RowNumber) -> [NameRow] {
        let recorded = log.map { $0.log.successors(of: number).map(now) } ?? []
        return recorded + rows.filter { $0.from == number }
    }

    /// The document that a rename has taken along to a row. The departure is the fact before that.
    func documentMoved(to row: NameRow) -> DocumentNumber? {
        guard row.number.number > 0, let departure = self[RowNumber(row.number.number - 1)],
            departure.how == .movedAway(to: row.number)
        else { return nil }
        return lastOccupant(of: departure.place, before: departure.number)?.document
    }

    // MARK: Files

    /// The names that a file has, oldest first.
    public func names(of file: FileID) -> [NameRow] {
        let there = stillThere { $0.names(of: file) }
        return rows.isEmpty ? there : there + rows.filter { $0.file == file && isLiving($0) }
    }

    /// How many names a file has.
    public func countOfNames(of file: FileID) -> Int {
        var count = log.map { $0.log.countOfNames(of: file) - countOfLeft(file, $0.log) } ?? 0
        for index in rows.indices where rows[index].file == file && isLiving(at: index) { count += 1 }
        return count
    }

    /// How many names of the log a file has lost since.
    private func countOfLeft(_ file: FileID, _ log: any FactLog) -> Int {
        var count = 0
        for index in rows.indices where !rows[..<index].contains(where: { $0.place == rows[index].place }) {
            if log.lastRow(at: rows[index].place)?.file == file { count += 1 }
        }
        return count
    }

    /// The row by which a file had its name before. A row that names no earlier one has none, so that a walk ends.
    func former(of row: NameRow) -> NameRow? { row.from.flatMap { $0 < row.number ? self[$0] : nil } }

    /// The names of the file that a row gave a name, also if that was deleted since and came back as a new one.
    func namesOfFile(from row: NameRow) -> [NameRow] {
        guard let file = row.file else { return [] }
        let added = rows.filter { living in
            guard !living.hasNoVersions, isLiving(living) else { return false }
            var former: NameRow? = living
            while let stop = former, stop.file != file { former = self.former(of: stop) }
            return former != nil
        }
        return stillThere { $0.namesOfFiles(from: file) } + added
    }

    /// The last row that gave a file a name.
    public func lastRow(of file: FileID) -> NameRow? {
        rows.last { $0.file == file } ?? log.flatMap { $0.log.lastRow(of: file) }.map(now)
    }

    /// How many documents a file is bound to: its names may belong to different ones.
    public func countOfDocuments(of file: FileID) -> Int {
        var first: DocumentNumber?
        var others: [DocumentNumber] = []
        func add(_ document: DocumentNumber) {
            if first == nil {
                first = document
            } else if document != first, !others.contains(document) {
                others.append(document)
            }
        }
        if let log, countOfLeft(file, log.log) == 0 {
            for document in log.log.documents(of: file) { add(document) }
        } else {
            for name in stillThere({ $0.names(of: file) }) { add(name.document) }
        }
        for index in rows.indices where rows[index].file == file && isLiving(at: index) { add(rows[index].document) }
        return (first == nil ? 0 : 1) + others.count
    }

    // MARK: Documents

    /// All rows of a document that give it a name, oldest first.
    public func rows(of document: DocumentNumber) -> [NameRow] { rows(of: document, after: RowNumber(0)) }

    /// The rows after a number that give a document a name, oldest first.
    public func rows(of document: DocumentNumber, after number: RowNumber) -> [NameRow] {
        let recorded = log.map { $0.log.rows(of: document, after: number).map(now) } ?? []
        return recorded + rows.filter { $0.file != nil && $0.document == document && $0.number > number }
    }

    /// The last row that gave a document a name.
    public func lastRow(of document: DocumentNumber) -> NameRow? {
        rows.last { $0.file != nil && $0.document == document } ?? log.flatMap { $0.log.lastRow(of: document) }.map(now)
    }

    /// The first row of a document.
    public func firstRow(of document: DocumentNumber) -> NameRow? { self[RowNumber(document.number)] }

    /// The names that a document has now, oldest first.
    public func names(of document: DocumentNumber) -> [NameRow] {
        let there = stillThere { $0.names(of: document) }
        return rows.isEmpty ? there : there + rows.filter { $0.document == document && isLiving($0) }
    }

    /// The files of its names.
    func files(of document: DocumentNumber) -> [FileID] {
        if let log, rows.isEmpty { return log.log.files(of: document) }
        return Array(Set(names(of: document).compactMap(\.file)))
    }

    /// Whether a document has any name now.
    public func hasName(_ document: DocumentNumber) -> Bool {
        if rows.indices.contains(where: { rows[$0].document == document && isLiving(at: $0) }) { return true }
        return log != nil && !stillThere { $0.names(of: document) }.isEmpty
    }

    /// The last row by which a document lost a name, also one of several.
    public func lastDeparture(of document: DocumentNumber) -> NameRow? {
        var last = log.flatMap { $0.log.lastDeparture(of: document) }.map(now)
        let recorded = log.map { $0.log.names(of: document) } ?? []
        for row in recorded + rows.filter({ $0.file != nil && $0.document == document }) {
            if let departure = departure(of: row), last.map({ $0.number < departure.number }) ?? true {
                last = departure
            }
        }
        return last
    }

    /// The rows of a document that are only in memory.
    func unpublishedRows(of document: DocumentNumber) -> [NameRow] {
        let recorded = log.map { $0.log.unpublishedRows(of: document).map(now) } ?? []
        let added = rows.filter { $0.document == document }
        return (recorded + added).filter { $0.file != nil && $0.maker != nil }
    }

    /// Names of the log that no later row has changed.
    private func stillThere(_ names: (any FactLog) -> [NameRow]) -> [NameRow] {
        guard let log else { return [] }
        let known = names(log.log)
        // Most plans ask before they record a row.
        if rows.isEmpty, !hasPublished { return known }
        return known.filter { name in !rows.contains { $0.place == name.place } }.map(now)
    }

    private func isLiving(at index: Int) -> Bool {
        guard rows[index].file != nil else { return false }
        let place = rows[index].place
        var later = rows.count - 1
        while later > index {
            if rows[later].place == place { return false }
            later -= 1
        }
        return true
    }
}
