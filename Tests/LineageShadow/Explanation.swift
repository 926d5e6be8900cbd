// By which rule of facts.md two answers differ: told by the facts alone.

import Lineage
import VersionModel

/// Looks into the facts for what makes a difference one that is meant.
struct Explanation {
    let shadow: Shadow
    /// What the container says.
    let today: Answer
    var facts: Facts { shadow.facts }

    init(_ shadow: Shadow, _ today: Answer) { (self.shadow, self.today) = (shadow, today) }

    func change(for difference: Difference) -> ListedChange? {
        switch difference.subject {
        case .conflicts:
            shadow.place(difference.name).flatMap { conflict(at: $0, difference) ?? awayFrom($0, difference) }
        case .history: shadow.place(difference.name).flatMap { history(at: $0, difference) }
        case .deleted: deleted(difference)
        case .superseded: superseded(difference)
        case .tree, .content: nil
        }
    }

    // MARK: Histories

    /// | what the container shows | the place | |
    /// |---|---|---|
    /// | less | was left by a rename, and its document had one version | it came back |
    /// | more | is free of a document that is elsewhere, too, or of an unsaved copy | that does not come back |
    private func history(at place: PlaceNumber, _ difference: Difference) -> ListedChange? {
        guard let row = arrival(at: place) else { return nil }
        if isOfNameBehindKill(place, difference) { return .leftBeforeKill }
        if isAmendedBeforeKill(row.document, difference) { return .amendsArrival }
        let today = difference.onlyToday
        var then = difference.onlyThen
        if let back = putBack(row.document, difference) {
            then = then.without([shadow.text(back.version)])
            if today.isEmpty, then.isEmpty { return back.change }
        }
        if today.isEmpty, then.isEmpty {
            return otherOrder(row.document, difference)
        }
        if today.isEmpty, let change = versionsMore(row.document, then) { return change }
        if then.isEmpty, let change = versionsLess(row.document, today) { return change }
        if today.isEmpty, let stayed = staying(at: place) { return stayed }
        let hasArrived = row.isContinuing && row.how == .moved
        if today.isEmpty || hasArrived, cameBack(to: place) { return .cameBack }
        if then.isEmpty, hasGoneBack(to: place) { return .backFromOver }
        return staysAway(from: place)
    }

    /// The version that a file has which took the place of another after a kill: the container had not saved what that
    /// one held, and set it aside, while the rules had, before a call that took it away or at one close of several. It
    /// shows both; what a call has taken away may be in the history of another name.
    private func putBack(
        _ document: DocumentNumber, _ difference: Difference
    ) -> (version: VersionNumber, change: ListedChange)? {
        guard let back = facts.current(of: document).flatMap({ facts[$0] }), shadow.settled.contains(back.number),
            let row = facts[back.row], row.how == .found, row.isContinuing,
            let before = back.parents.first, facts.history(of: document).contains(where: {
                $0 < before && facts.fingerprint($0) == back.fingerprint
            }),
            let history = difference.historiesToday.first,
            history.contains(shadow.text(back.number)), today.shown.contains(shadow.text(before))
        else { return nil }
        if shadow.unfinished.contains(before) { return (back.number, .savedFirst) }
        return shadow.shared.contains(before) ? (back.number, .writtenTogether) : nil
    }

    /// The same versions, and some earlier or later than today: those that were saved first, or without a name.
    private func otherOrder(_ document: DocumentNumber, _ difference: Difference) -> ListedChange? {
        guard let today = difference.historiesToday.first, let then = difference.historiesThen.first else { return nil }
        func isSame(without isOther: (VersionRow) -> Bool) -> Bool {
            let others = facts.versions(of: document).filter(isOther).map { shadow.text($0.number) }
            return !others.isEmpty && today.without(others) == then.without(others)
        }
        if isSame(without: { shadow.unfinished.contains($0.number) }) { return .savedFirst }
        return isSame { $0.beside != .no } ? .savedWithoutName : nil
    }

    /// What a document has that it does not have today.
    ///
    /// | its versions | |
    /// |---|---|
    /// | of a close in place, while others had the file open | a version at each close |
    /// | of what was not saved when a call took it away | saved first |
    /// | of an empty file that was found after a kill | found after a kill |
    /// | that it began with | the history of a copy goes on |
    private func versionsMore(_ document: DocumentNumber, _ contents: [String]) -> ListedChange? {
        let own = facts.versions(of: document)
        func all(_ isMeant: (VersionRow) -> Bool) -> Bool {
            let meant = own.filter(isMeant).map { shadow.text($0.number) }
            return contents.allSatisfy(meant.contains)
        }
        if all({ shadow.shared.contains($0.number) }) { return .writtenTogether }
        let first = shadow.unfinished
        if all({ first.contains($0.number) || $0.loser.map(first.contains) ?? false }) { return .savedFirst }
        if all({ $0.beside != .no }) { return .savedWithoutName }
        let empty = own.filter { shadow.settled.contains($0.number) && $0.fingerprint.isEmpty }
        let rest = contents.without(empty.map { _ in "" })
        if rest.isEmpty { return .settledEmpty }
        let isOrigin = facts.origin(of: document).map { rest == [shadow.text($0)] } ?? false
        return isOrigin && facts.firstRow(of: document)?.isParted ?? false ? .isBehindOrigin : nil
    }

    /// What a document does not have that it has today.
    ///
    /// | the content | |
    /// |---|---|
    /// | was written to the file of a copy after that had parted | the version is not amended |
    /// | was there when a handle went that had not written it | that saves nothing |
    /// | was a version that was amended | its handle goes on with it |
    private func versionsLess(_ document: DocumentNumber, _ contents: [String]) -> ListedChange? {
        let copies = facts.rows.filter { row in
            row.isParted && row.origin.flatMap { facts.document(of: $0) } == document
        }
        let later = copies.flatMap { copy in
            facts.versions(of: copy.document).filter { $0.file == copy.file }.map { shadow.text($0.number) }
        }
        if contents.allSatisfy(later.contains) { return .endsWithParting }
        if wasPassedOver(contents, in: document) { return .notAtEachClose }
        let former = facts.versions(of: document).flatMap { shadow.formerly[$0.number] ?? [] }.map(shadow.texts.text)
        return contents.allSatisfy(former.contains) ? .amendsArrival : nil
    }

    /// Whether files of a document held these contents when a handle went that saved nothing.
    func wasPassedOver(_ contents: [String], in document: DocumentNumber) -> Bool {
        let files = facts.rows(of: document).compactMap(\.file)
        let texts = files.flatMap { shadow.passedOver[$0] ?? [] }.map(shadow.texts.text)
        return contents.allSatisfy(texts.contains)
    }

    /// Whether the document of a place had one version when a rename took it from a name that it came back to.
    func cameBack(to place: PlaceNumber) -> Bool { rowBack(to: place) != nil }

    /// The row by which it came back.
    func rowBack(to place: PlaceNumber) -> NameRow? {
        guard let document = facts.occupant(of: place)?.document else { return nil }
        return facts.rows(of: document).first { row in
            guard row.isContinuing, let vacated = vacated(before: row), !vacated.how.isRemoval else { return false }
            return facts.listing(of: document).filter { $0.number < vacated.number.number }.count == 1
        }
    }

    private func hasGoneBack(to place: PlaceNumber) -> Bool { goneBack(to: place) != nil }

    /// The document of the name that a file was renamed over, before it was renamed back.
    func goneBack(to place: PlaceNumber) -> DocumentNumber? {
        guard let former = arrival(at: place)?.from.flatMap({ facts[$0] }), former.isContinuing else { return nil }
        return former.from.flatMap { facts[$0] }?.place == place ? former.document : nil
    }

    /// The same for a place whose document would have come back to it today.
    func staysAway(from place: PlaceNumber) -> ListedChange? {
        guard let row = firstRow(at: place), !row.isContinuing else { return nil }
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

    /// Why the document that a place had does not come back to it.
    func staysAway(_ vacated: NameRow) -> ListedChange? {
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
            return row.how == .undeleted || isOnWay(row.place, to: last)
                || former.contains { $0.place == row.place && $0.number < vacated.number }
        }
        if hasReturned { return .hasReturned }
        // Versions that the container has not made by then.
        let atHome = facts.versions(of: last.document).filter {
            $0.isAtHome && $0.row > vacated.number && $0.row < next
        }
        if atHome.contains(where: { shadow.savedUnseen.contains($0.number) }) { return .settledUnseen }
        return atHome.contains { shadow.unfinished.contains($0.number) } ? .savedFirst : nil
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

    private func isUnsavedCopy(_ document: DocumentNumber, before row: NameRow) -> Bool {
        facts.firstRow(of: document)?.isParted ?? false
            && !facts.versions(of: document).contains { $0.number.number < row.number.number }
    }

    // MARK: The deleted list

    private func deleted(_ difference: Difference) -> ListedChange? {
        var (missed, more) = (difference.onlyToday, difference.onlyThen)
        var changes: [ListedChange] = []
        for entry in more {
            for departure in departures(of: entry) {
                guard let change = saved(departure, entry, &missed) else { continue }
                changes.append(change)
                more = more.without([entry])
                break
            }
        }
        if let change = changes.first, missed.isEmpty, more.isEmpty { return change }
        let today = missed.map { entry in departures(of: entry).lazy.compactMap { missing($0, entry) }.first }
        let then = more.map { entry in departures(of: entry).lazy.compactMap(added).first }
        let all = today + then
        return all.contains(nil) ? nil : all.first ?? nil
    }

    /// The rows by which the name of an entry went, newest first.
    private func departures(of entry: String) -> [NameRow] {
        facts.rows.reversed().filter { row in
            row.how.isRemoval && shadow.departures[row.number].map { entry.hasPrefix("\($0): ") } ?? false
        }
    }

    private func missing(_ departure: NameRow, _ entry: String) -> ListedChange? {
        if isOfNameBehindKill(entry, departure) { return .leftBeforeKill }
        guard let last = facts.lastOccupant(of: departure.place, before: departure.number) else { return nil }
        return departure.how == .hidden && isUnsavedCopy(last.document, before: departure) ? .removedByMover : nil
    }

    /// Whether an entry is one of today's, with what was saved first, or without a name.
    private func saved(_ departure: NameRow, _ entry: String, _ today: inout [String]) -> ListedChange? {
        guard let last = facts.lastOccupant(of: departure.place, before: departure.number),
            let path = shadow.departures[departure.number],
            entry == Answer.deleted(path, shadow.listing(last.document))
        else { return nil }
        let listing = facts.listing(of: last.document)
        // Today the close of a file without a name saves, too, what the document has been before.
        let texts = facts.rows(of: last.document).compactMap(\.file).flatMap { shadow.passedOver[$0] ?? [] }
        for text in Set(texts.map(shadow.texts.text)) where listing.map(shadow.text).contains(text) {
            for position in 0...listing.count {
                var more = listing.map(shadow.text)
                more.insert(text, at: position)
                guard let index = today.firstIndex(of: Answer.deleted(path, more)) else { continue }
                today.remove(at: index)
                return .notAtEachClose
            }
        }
        func isTodays(without isMore: (VersionNumber) -> Bool) -> Bool {
            let others = listing.filter { !isMore($0) }
            guard others.count < listing.count,
                let index = today.firstIndex(of: Answer.deleted(path, others.map(shadow.text)))
            else { return false }
            today.remove(at: index)
            return true
        }
        if isTodays(without: shadow.unfinished.contains) { return .savedFirst }
        return isTodays { $0.number > departure.number.number } ? .savedWithoutName : nil
    }

    private func added(_ departure: NameRow) -> ListedChange? {
        let last = facts.lastOccupant(of: departure.place, before: departure.number)
        if let last, isUnsavedCopy(last.document, before: departure) { return .isUnsavedCopy }
        // Today the document came back to the name that it had before, and this name was its copy's.
        if let former = last?.from.flatMap({ facts[$0] }), let vacated = facts.departure(of: former),
            facts.departure(of: vacated)?.file != nil, let reason = staysAway(vacated)
        {
            return reason
        }
        return facts.occupant(of: departure.place) == nil ? nil : staysAway(departure)
    }

    // MARK: Rows

    /// The row by which the file of a place came there; not one that took the place of another after a kill.
    func arrival(at place: PlaceNumber) -> NameRow? {
        var row = facts.occupant(of: place)
        while let found = row, found.how == .found, found.isContinuing {
            row = facts.lastOccupant(of: place, before: found.number)
        }
        return row
    }

    /// The row by which the document of a place came to it.
    func firstRow(at place: PlaceNumber) -> NameRow? {
        guard let last = facts.occupant(of: place) else { return nil }
        var first = last
        for row in facts.rows.reversed() where row.place == place && row.number < last.number {
            guard row.file != nil, row.document == last.document else { break }
            first = row
        }
        return first
    }

    /// The row before another at its place, if that had left it free.
    func vacated(before row: NameRow) -> NameRow? {
        facts.rows.last { $0.place == row.place && $0.number < row.number }.flatMap { $0.file == nil ? $0 : nil }
    }
}
