// Which document a name shows when it appears, and what parts from that document (facts.md 2).

import VersionModel

extension Planning {
    /// How long a free name waits for its document.
    static let comesBackWithin: Int64 = 15 * 1_000_000_000

    /// The row by which a free place had the document that comes back when the name appears; nil if what appears is its
    /// own document.
    ///
    /// With `last` the place's last occupant, `vacated` the row by which it left, and D its document, D comes back if
    /// all of this holds:
    /// - fewer than 15 s have passed since `vacated`, or the file of `last` is open for writing;
    /// - `last` is neither ephemeral nor a directory, its removal was neither hidden nor purged, D is not a parted copy
    ///   without a save of its own, and D has a version;
    /// - D has no living name older than `vacated`, and none at all if `last` was removed;
    /// - since `vacated` D has not settled at another place (``hasSettled(_:since:from:)``).
    ///
    /// What arrives decides the rest: D's own file is simply home again, and link(2) never brings a document back.
    public func claim(_ place: PlaceNumber, at now: Timestamp? = nil) -> NameRow? {
        guard let vacated = facts.lastRow(at: place), vacated.file == nil,
            let last = facts.lastOccupant(of: place, before: vacated.number), let file = last.file,
            last.maker == nil, !last.hasNoVersions, vacated.how != .hidden
        else { return nil }
        let isInTime = (now ?? self.now).since(vacated.time) < Self.comesBackWithin
        guard isInTime || memory.hasWriter(file) else { return nil }
        let document = last.document
        guard facts.current(of: document) != nil else { return nil }
        if facts.isPurged(vacated, of: document) { return nil }
        if facts.firstRow(of: document)?.isParted ?? false, !facts.hasVersion(document) { return nil }
        for name in facts.names(of: document) where name.number < vacated.number || vacated.how.isRemoval { return nil }
        return hasSettled(document, since: vacated, from: last) ? nil : last
    }

    /// Whether a document is at home elsewhere since a place was vacated.
    ///
    /// - It has continued at another place, or been undeleted there.
    /// - It has gone back along its own way: to a place from where it was moved to this one.
    /// - It was saved by a rename to its new place, or through a handle that was opened there.
    private func hasSettled(_ document: DocumentNumber, since vacated: NameRow, from last: NameRow) -> Bool {
        for row in facts.rows(of: document, after: vacated.number) {
            if row.isContinuing || row.how == .undeleted || isOnWay(row.place, to: last) { return true }
        }
        return facts.isSavedAtHome(document, after: vacated.number)
    }

    /// Whether a place is one of those that a file had, one after another, before it came to a row.
    private func isOnWay(_ place: PlaceNumber, to row: NameRow) -> Bool {
        var former = facts.former(of: row)
        while let stop = former {
            if stop.place == place { return true }
            former = stop.isContinuing ? nil : facts.former(of: stop)
        }
        return false
    }

    /// Lets a row go on with the document of the place's last occupant. A name that its maker made up stays one when it
    /// gets another content, if that has not published it (``publish(_:gets:by:isExchanged:)``).
    func goOn(_ row: inout NameRow, with last: NameRow) {
        row.isContinuing = true
        row.document = last.document
        if facts.isLiving(last) { row.maker = facts[last.number]?.maker }
    }

    /// A name that parts from its document, because the document goes on with another file.
    struct Parting {
        var name: NameRow
        var origin: VersionNumber?
    }

    /// The other names of a document that goes on at these places.
    ///
    /// They will have one new document in common. It begins with the document's current version, if the file under the
    /// name holds that, else with the file's newest version.
    func partings(from document: DocumentNumber, exceptAt places: [PlaceNumber]) -> [Parting] {
        let current = facts.current(of: document)
        return facts.names(of: document).compactMap { name in
            guard !places.contains(name.place) else { return nil }
            let held = name.file.flatMap { memory[$0]?.holds }
            let holdsCurrent = current.flatMap(facts.fingerprint) == held.flatMap(facts.fingerprint)
            return Parting(name: name, origin: holdsCurrent ? current : held ?? current)
        }
    }

    /// Records the rows of names that part.
    mutating func part(_ partings: [Parting], by actor: ActorNumber?) {
        var document: DocumentNumber?
        for parting in partings {
            var row = row(parting.name.place, parting.name.file, parting.name.how, by: actor)
            row.document = document ?? row.document
            document = row.document
            row.isParted = true
            row.from = parting.name.number
            row.maker = parting.name.maker
            row.origin = parting.origin
            record(.row(row))
        }
    }
}
