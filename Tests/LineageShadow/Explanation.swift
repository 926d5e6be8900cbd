// By which rules of facts.md two answers differ: told by the facts alone.

import Lineage
import VersionModel

/// Looks into the facts for what makes differences ones that are meant.
///
/// Each difference is taken apart into what only one side has: a version in a history, a conflict, an entry of the
/// deleted list, a history without a name. Each of these needs a rule of its own. It is that of the version, if only
/// one side makes that (`Explanation+Versions`); else it is why a name has another document (`Explanation+Names`).
struct Explanation {
    let shadow: Shadow
    /// What the container says.
    let today: Answer
    /// The names that have other documents today.
    let turns: [Turn]
    var facts: Facts { shadow.facts }

    init(_ shadow: Shadow, _ today: Answer) {
        (self.shadow, self.today) = (shadow, today)
        turns = Turn.all(of: shadow)
    }

    /// The rules by which they differ; nil if something differs by none.
    func rules(for difference: Difference) -> [ListedChange]? {
        switch difference.subject {
        case .conflicts: occupant(of: difference.name).flatMap { conflicts(in: $0, difference) }
        case .history:
            occupant(of: difference.name).flatMap { document in
                difference.historiesToday.first.flatMap { align($0, with: document) }
            }
        case .deleted: deleted(difference)
        case .superseded: superseded(difference)
        case .tree, .content: nil
        }
    }

    func occupant(of name: String) -> DocumentNumber? {
        shadow.place(name).flatMap { facts.occupant(of: $0)?.document }
    }

    /// What a container shows, beside what a document is by the rules, or was before a row.
    func align(_ today: [String], with document: DocumentNumber, before row: NameRow? = nil) -> [ListedChange]? {
        let then = row.map { facts.listing(of: document, before: $0) } ?? facts.listing(of: document)
        let texts = then.map(shadow.text)
        let moved = moved(today, then, in: document)
        let hasOther = !today.isEmpty || then.contains { onlyThen($0) == .settledEmpty }
        let alignment = Alignment(
            today: today.enumerated().map { index, text in
                [
                    moved[text], onlyToday(text, in: document), beginning(text, of: document),
                    otherDocument(forToday: text, in: document), againToday(index, today, in: document),
                ].compactMap(\.self)
            },
            then: then.map { moved[shadow.text($0)]?.rules ?? reasons(for: $0, in: document, hasOther: hasOther) },
            numbers: then.map { arrival($0, in: document) ?? $0.number })
        return alignment.rules { first, second in
            if today[first] == texts[second] { return [] }
            return isAmendedBeforeKill(then[second], from: today[first]) ? [.amendsArrival] : nil
        }
    }

    /// When a version came to the container's document, if it is one of that only since then: of a file that came to a
    /// name which has another document, or that holds what this one was; or of one that came over another document, and
    /// has gone back.
    private func arrival(_ version: VersionNumber, in document: DocumentNumber) -> UInt64? {
        for turn in turns.reversed() {
            guard let arrived = turn.arrived, (turn.isBack ? turn.document : arrived) == document else { continue }
            func last(_ document: DocumentNumber) -> VersionNumber? {
                facts.listing(of: document).first { $0.number < turn.row.number.number && facts[$0]?.beside == .no }
            }
            guard last(document) == version, let held = last(arrived),
                facts.fingerprint(version) == facts.fingerprint(held)
            else { continue }
            return turn.change == .backFromOver ? held.number : turn.row.number.number
        }
        return nil
    }

    /// What both have, and the container later: what the rules save before a call, it may save at the close.
    private func moved(
        _ today: [String], _ then: [VersionNumber], in document: DocumentNumber
    ) -> [String: Alignment.Reason] {
        var moved: [String: Alignment.Reason] = [:]
        for version in then {
            guard let reason = movedReason(version, in: document) else { continue }
            let text = shadow.text(version)
            let (here, there) = (today.count { $0 == text }, then.count { shadow.text($0) == text })
            guard onlyThen(version) == nil ? here == there : here <= there else { continue }
            moved[text] = reason
        }
        return moved
    }

    private func movedReason(_ version: VersionNumber, in document: DocumentNumber) -> Alignment.Reason? {
        let isHeld = isHeld(version, by: document)
        // What a call has amended before a close, that close may save as a version of its own.
        let amended = shadow.amendedFirst.contains(version) ? ListedChange.amendsArrival : nil
        guard let rule = onlyThen(version, in: document) ?? (isHeld ? nil : notYet(version) ?? amended) else {
            // What a name shows is a version of both: in the container since the last close.
            guard isHeld else { return nil }
            if shadow.shared[version] != nil {
                return Alignment.Reason(rules: [.writtenTogether], before: version.number)
            }
            guard let close = shadow.acknowledged[version]?.last, close > version.number else { return nil }
            return Alignment.Reason(rules: [.savedFirst], after: close + 1, before: version.number)
        }
        // What a file without a name holds may be one as soon as the name is there again.
        let lost = rule == .savedWithoutName ? facts[version].flatMap { facts[$0.row] } : nil
        let departure = lost.flatMap { facts.departure(of: $0) }?.number.number
        return Alignment.Reason(rules: [rule], before: min(version.number, departure ?? .max))
    }

    /// Why the rules have a version of a document that the container does not show there.
    ///
    /// - Parameter hasOther: whether it shows another one there, or the file had not been saved yet.
    private func reasons(
        for version: VersionNumber, in document: DocumentNumber, hasOther: Bool
    ) -> [ListedChange]? {
        if let rule = onlyThen(version, in: document) { return [rule] }
        if let rules = again(version, in: document) { return rules }
        if let turn = otherDocument(for: version, in: document) { return [turn.change] }
        // The container's copy has begun without it.
        if !hasOther, isBehindOrigin(version, in: document), shadow.isUnfinished(version) { return [.savedFirst] }
        if isHeld(version, by: document) { return nil }
        return hasOther && isBehindOrigin(version, in: document) ? [.isBehindOrigin] : nil
    }

    /// Whether a version is another document's, with which a copy began.
    private func isBehindOrigin(_ version: VersionNumber, in document: DocumentNumber) -> Bool {
        facts.origin(of: document) == version && facts.firstRow(of: document)?.isParted ?? false
    }
}
