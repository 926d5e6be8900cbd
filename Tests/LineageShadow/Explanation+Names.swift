// Contents that are at other names today, because names have other documents.

import Lineage

extension Explanation {
    /// Why the container shows a content at a name of this document, which is another one's by the rules.
    ///
    /// | the name is | the content is |
    /// |---|---|
    /// | of the document that came back | what arrived had been |
    /// | a copy's that this has left behind | the document's until then |
    /// | of what appeared where the former document stays away | that one's until then |
    func otherDocument(forToday text: String, in document: DocumentNumber) -> Alignment.Reason? {
        for turn in turns {
            let other: DocumentNumber?
            if turn.isBack {
                other = turn.document == document ? turn.arrived : isCopy(document, by: turn) ? turn.document : nil
            } else {
                other = turn.row.document == document ? turn.document : nil
            }
            guard let other else { continue }
            let versions = facts.listing(of: other, before: turn.row)
            if let version = versions.last(where: { shadow.text($0) == text }) {
                // A file that had lost its name before may have been saved since.
                let isInPlace = turn.change == .backFromOver && other == turn.arrived && notYet(version) == nil
                let after = isInPlace ? version.number + 1 : max(turn.row.number.number, version.number)
                return Alignment.Reason(rules: [turn.change], after: after, before: version.number)
            }
            if var reason = onlyToday(text, in: other) {
                reason.rules.append(turn.change)
                return reason
            }
        }
        return nil
    }

    /// Why the container does not show a version of this document at its name.
    ///
    /// | the document | the version is of |
    /// |---|---|
    /// | came back | before that |
    /// | arrived where another one stays away | before that |
    /// | stays where it is, and leaves its former name to another one | before that: a copy shows one |
    ///
    /// What the name's file holds is shown.
    func otherDocument(for version: VersionNumber, in document: DocumentNumber) -> Turn? {
        guard let row = facts[version]?.row, !isHeld(version, by: document) else { return nil }
        return turns.first { turn in
            guard row < turn.row.number else { return false }
            if turn.isBack { return turn.document == document }
            let isCopied = facts.listing(of: document, before: turn.row).first == version
            return turn.arrived == document || turn.document == document && !isCopied
        }
    }

    /// Whether a version is what the names of a document show.
    func isHeld(_ version: VersionNumber, by document: DocumentNumber) -> Bool {
        facts.hasName(document) && facts.current(of: document) == version
    }

    /// Whether a document is a copy that another one left behind when it came back.
    private func isCopy(_ document: DocumentNumber, by turn: Turn) -> Bool {
        guard let first = facts.firstRow(of: document), first.isParted, first.number > turn.row.number else {
            return false
        }
        return first.origin.flatMap { facts.document(of: $0) } == turn.document
    }
}
