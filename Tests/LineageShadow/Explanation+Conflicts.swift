// By which rules a document has other conflicts.

import Lineage

extension Explanation {
    func conflicts(in document: DocumentNumber, _ difference: Difference) -> [ListedChange]? {
        let history = today.names[difference.name]?.history ?? []
        var losers = facts.conflicts(of: document)
        let more = difference.onlyThen.map { text -> ListedChange? in
            guard let index = losers.firstIndex(where: { shadow.text($0) == text }) else { return nil }
            return lost(losers.remove(at: index), in: document, history)
        }
        let all = difference.onlyToday.map { lostToday($0, in: document, history) } + more
        return all.contains(nil) ? nil : all.compactMap(\.self)
    }

    // MARK: Only by the rules

    /// | the loser, or the winner | |
    /// |---|---|
    /// | is a version that the container has not | by that one's rule |
    ///
    /// | the winner's author | |
    /// |---|---|
    /// | had seen nothing of the document but such versions | by that of its base |
    /// | knows the loser's document from before it had its name | has seen it elsewhere |
    /// | has renamed its file to a name that it had removed | has removed and replaced it |
    /// | had not come here yet, or has seen the document that stays away | the container has that one here |
    /// | has saved before the document stayed away from another name | the container has it there |
    /// | would be followed by a save of its program's kin, which has seen another version elsewhere | today it is |
    private func lost(
        _ loser: VersionNumber, in document: DocumentNumber, _ history: [String]
    ) -> ListedChange? {
        if let rule = onlyThen(loser) { return rule }
        for winner in facts.versions(of: document).reversed() where winner.loser == loser {
            // The container may have made the loser later than the winner.
            let (lost, won) = (shadow.text(loser), shadow.text(winner.number))
            let isLater = (history.firstIndex(of: lost) ?? -1) < (history.firstIndex(of: won) ?? history.count)
            if isLater, let rule = notYet(loser) { return rule }
            if let rule = notYet(winner.number) { return rule }
            if let base = winner.base, let rule = notYet(base), !hasSeenOther(winner, in: document) { return rule }
            if let base = winner.base, wasSeen(base, elsewhereThanAs: document) { return .seenElsewhere }
            if isOfRemoved(winner) { return .removedAndReplaced }
            for turn in turns(from: document) {
                if winner.number.number < turn.row.number.number || hasSeen(winner.author, turn.document) {
                    return turn.change
                }
            }
        }
        if isUnsettled(loser, in: document) { return .seenElsewhere }
        return turns.first { turn in
            guard !turn.isBack, turn.document == document, loser.number < turn.row.number.number else { return false }
            // The container has the document at that name, with its conflicts, but for those that were settled since.
            let name = shadow.path(of: turn.row.place).flatMap { today.names[$0] }
            let isSettled = facts.versions(of: turn.row.document).contains { winner in
                winner.number > loser
                    && winner.author.flatMap { shadow.planning.base(of: $0, in: document) } == loser
            }
            return isSettled || name.map { $0.conflicts.contains(shadow.text(loser)) } ?? true
        }?.change
    }

    /// Whether a later save would settle a loser, if its program had not seen another version since: elsewhere, which
    /// does not count today.
    private func isUnsettled(_ loser: VersionNumber, in document: DocumentNumber) -> Bool {
        guard let author = facts[loser]?.author else { return false }
        return facts.versions(of: document).contains { version in
            guard version.number > loser, let base = version.base, base != loser, let saver = version.author else {
                return false
            }
            return shadow.kin.areKin(author, saver) && wasSeen(base, elsewhereThanAs: document)
        }
    }

    // MARK: Only today

    /// | the loser | |
    /// |---|---|
    /// | is a version that only one side has, or what such a version has replaced | by that one's rule |
    /// | was the base of a later save that has settled it | as ``settled(_:in:)`` says |
    /// | is of a document that came back, or that stays away | the container has another one here |
    private func lostToday(_ text: String, in document: DocumentNumber, _ history: [String]) -> ListedChange? {
        for version in facts.versions(of: document) {
            // In the container it is a save of the program that closes last.
            let isOfOther = shadow.shared[version.number]?.contains { $0 != version.author } ?? false
            let isFollowed = version.parents.first.map(shadow.text) == text
            if isFollowed, isOfOther || hasSharedAnother(version, in: document) { return .writtenTogether }
            let isUnfinished = shadow.unfinished.contains(version.number)
            guard let rule = notYet(version.number) ?? (isUnfinished ? .savedFirst : nil) else { continue }
            if shadow.text(version.number) == text, !isHeld(version.number, by: document) { return rule }
            // In the container the version's author, or that of the next one, may be a rival of the version before.
            let isRival = version.base != nil && version.base != version.parents.first
                || facts.versions(of: document).contains { next in
                    next.loser == version.number
                        || next.parents.first == version.number && next.base == version.number
                            && next.author != version.author
                }
            if rule == .savedFirst, isRival, version.parents.first.map(shadow.text) == text { return rule }
        }
        let isMore = history.count { $0 == text } > shadow.listing(document).count { $0 == text }
        if isMore, let rule = onlyToday(text, in: document)?.rules.first { return rule }
        if let change = settled(text, in: document) { return change }
        let returned = turns.first { $0.isBack && $0.document == document && lostSince($0).contains(text) }
        return returned?.change ?? turns(from: document).first { lostAway($0).contains(text) }?.change
    }

    /// Whether the author of a version has written another one together with a program that has closed it first. In the
    /// container both are its saves, and it has seen that one.
    private func hasSharedAnother(_ version: VersionRow, in document: DocumentNumber) -> Bool {
        guard let author = version.author else { return false }
        return facts.versions(of: document).contains { other in
            other.number < version.number && other.author != author
                && version.parents.first.map { $0 < other.number } ?? false
                && shadow.shared[other.number]?.contains(author) ?? false
        }
    }

    /// What lost in the container's document since this one came back.
    ///
    /// | the container's document | the losers |
    /// |---|---|
    /// | began when this one came back | were followed since, by programs that had seen this one before, or elsewhere |
    /// | is that of the file that came | are its conflicts |
    /// | the same | came, and were followed by programs that save a file which it had replaced |
    /// | the same, as it goes back from over another one | were followed by programs that had seen either before |
    private func lostSince(_ turn: Turn) -> [String] {
        let followed = facts.versions(of: turn.document).compactMap { winner -> VersionNumber? in
            guard let former = winner.parents.first, let base = winner.base, base != former else { return nil }
            return base.number < turn.row.number.number || wasSeen(base, elsewhereThanAs: turn.document) ? former : nil
        }
        let others = turn.arrived.map { facts.conflicts(of: $0) + outdone(in: $0, by: turn) } ?? []
        let isOver = turn.change == .backFromOver && turn.arrived != nil
        let since = isOver ? followed : followed.filter { $0.number > turn.row.number.number }
        return (others + since).map(shadow.text)
    }

    /// What had come over another file, and lost as its name turned: to a program that has the other file open still,
    /// and so follows that.
    private func outdone(in over: DocumentNumber, by turn: Turn) -> [VersionNumber] {
        let arrived = facts.listing(of: over, before: turn.row).first { facts[$0]?.beside == .no }
        guard let arrived, let renamer = facts[arrived]?.author else { return [] }
        let others = facts.versions(of: over).filter { $0.beside != .no && $0.author != renamer }.map(\.author)
        let isFollowed = facts.versions(of: turn.document).contains { version in
            version.number.number > turn.row.number.number
                && others.contains(shadow.acknowledged[version.number]?.program ?? version.author)
        }
        return isFollowed ? [arrived] : []
    }

    /// What lost in the document that stays away and that the container has here, with what the present one has been
    /// since.
    ///
    /// | the losers |
    /// |---|
    /// | are conflicts of the other one |
    /// | were current when a program saved here that had seen an older version of the other one |
    /// | are the present one's, saved over since by a program that had seen the other one, not them |
    private func lostAway(_ turn: Turn) -> [String] {
        let planning = shadow.planning
        let winners = facts.versions(of: turn.row.document)
        let stale = facts.listing(of: turn.document).filter { version in
            winners.contains { planning.staleBase(of: $0.author, in: turn.document, current: version) != nil }
        }
        let since = winners.compactMap { winner -> VersionNumber? in
            guard let former = winner.parents.first, winner.base != former, hasSeen(winner.author, turn.document) else {
                return nil
            }
            return former
        }
        let conflicts = facts.conflicts(of: turn.document).filter { $0.number < turn.row.number.number }
        return (conflicts + stale + since).map(shadow.text)
    }

    /// Where a document came to a name from which another one stays away.
    private func turns(from document: DocumentNumber) -> [Turn] {
        turns.filter { !$0.isBack && $0.row.document == document }
    }

    /// Whether the author of a version had seen one of the document that the container has, too.
    private func hasSeenOther(_ version: VersionRow, in document: DocumentNumber) -> Bool {
        guard let author = version.author else { return false }
        let history = facts.history(of: document).filter { $0 < version.number && notYet($0) == nil }
        return shadow.observations.contains { observation in
            let isOwn = observation.actor == author || shadow.kin.lineage(of: observation.actor).contains(author)
            return isOwn && observation.version.map(history.contains) ?? false
        }
    }

    private func hasSeen(_ author: ActorNumber?, _ document: DocumentNumber) -> Bool {
        author.flatMap { shadow.planning.base(of: $0, in: document) } != nil
    }

    /// Why a loser that was the base of a later save is settled by that.
    ///
    /// | the program | |
    /// |---|---|
    /// | had seen it under another name | settles it as under its own |
    /// | had removed the name before it renamed its file to it | works without a base today |
    /// | has its bytes taken before its close | has seen a later version by then, today |
    private func settled(_ text: String, in document: DocumentNumber) -> ListedChange? {
        for version in facts.versions(of: document) {
            guard let base = version.base, version.parents.contains(base), facts.settled.contains(base),
                shadow.text(base) == text
            else { continue }
            if wasSeen(base, elsewhereThanAs: document) { return .settledElsewhere }
            if isOfRemoved(version) { return .removedAndReplaced }
            if shadow.unfinished.contains(version.number) { return .savedFirst }
        }
        return nil
    }

    /// Whether a version came by a rename to a name that had been removed.
    private func isOfRemoved(_ version: VersionRow) -> Bool {
        guard let row = facts[version.row], row.isContinuing else { return false }
        return facts.vacated(before: row)?.how.isRemoval ?? false
    }

    /// Whether a version is another document's, or was seen as one.
    private func wasSeen(_ version: VersionNumber, elsewhereThanAs document: DocumentNumber) -> Bool {
        facts.document(of: version) != document
            || shadow.observations.contains { $0.version == version && $0.document != document }
    }
}
