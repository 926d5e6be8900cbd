// What the rows say of places and files (facts.md 1, "Derived by pure functions").

import VersionModel

extension Facts {
    /// The last row of a place.
    public func lastRow(at place: PlaceNumber) -> NameRow? { rows.last { $0.place == place } }

    /// The row by which a place has its file now; nil if the place is free.
    public func occupant(of place: PlaceNumber) -> NameRow? { lastRow(at: place).flatMap { $0.file == nil ? nil : $0 } }

    /// The last row before a moment that gave the place a file.
    public func lastOccupant(of place: PlaceNumber, before number: RowNumber? = nil) -> NameRow? {
        rows.last { row in row.place == place && row.file != nil && number.map { row.number < $0 } ?? true }
    }

    /// The first row after this one at the same place: by it the file left the place, or the document did.
    public func departure(of row: NameRow) -> NameRow? {
        rows.first { $0.number > row.number && $0.place == row.place }
    }

    /// Whether the row says what its place has now.
    public func isLiving(_ row: NameRow) -> Bool {
        row.file != nil && !rows.reversed().contains { $0.number > row.number && $0.place == row.place }
    }

    /// The names that a file has, oldest first.
    public func names(of file: FileID) -> [NameRow] { rows.filter { $0.file == file && isLiving($0) } }

    /// The row by which a file had its name before. A row that names no earlier one has none, so that a walk ends.
    func former(of row: NameRow) -> NameRow? { row.from.flatMap { $0 < row.number ? self[$0] : nil } }

    /// The names of the file that a row gave a name, also if that was deleted since and came back as a new one.
    func namesOfFile(from row: NameRow) -> [NameRow] {
        rows.filter { living in
            guard !living.isDirectory, isLiving(living) else { return false }
            var former: NameRow? = living
            while let stop = former, stop.file != row.file { former = self.former(of: stop) }
            return former != nil
        }
    }

    /// How many names a file has.
    public func countOfNames(of file: FileID) -> Int {
        var count = 0
        for index in rows.indices where rows[index].file == file && isLiving(at: index) { count += 1 }
        return count
    }

    /// The last row that gave a file a name.
    public func lastRow(of file: FileID) -> NameRow? { rows.last { $0.file == file } }

    /// All rows of a document that give it a name, oldest first.
    public func rows(of document: DocumentNumber) -> [NameRow] {
        rows.filter { $0.file != nil && $0.document == document }
    }

    /// The first row of a document.
    public func firstRow(of document: DocumentNumber) -> NameRow? { self[RowNumber(document.number)] }

    /// The names that a document has now, oldest first.
    public func names(of document: DocumentNumber) -> [NameRow] {
        rows.filter { $0.document == document && isLiving($0) }
    }

    /// Whether a document has any name now.
    public func hasName(_ document: DocumentNumber) -> Bool {
        rows.indices.contains { rows[$0].document == document && isLiving(at: $0) }
    }

    /// The last row by which a document lost a name, also one of several.
    public func lastDeparture(of document: DocumentNumber) -> NameRow? {
        var last: NameRow?
        for row in rows where row.file != nil && row.document == document {
            if let departure = departure(of: row), last.map({ $0.number < departure.number }) ?? true {
                last = departure
            }
        }
        return last
    }

    /// How many documents a file is bound to: its names may belong to different ones.
    public func countOfDocuments(of file: FileID) -> Int {
        var first: DocumentNumber?
        var others: [DocumentNumber] = []
        for index in rows.indices where rows[index].file == file && isLiving(at: index) {
            let document = rows[index].document
            if first == nil {
                first = document
            } else if document != first, !others.contains(document) {
                others.append(document)
            }
        }
        return (first == nil ? 0 : 1) + others.count
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
