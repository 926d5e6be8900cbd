// Documents that lost their name to a file which was renamed over another one (facts.md 8), one by one.

import VersionModel

extension Facts {
    /// The entry of a rename that took a document's last name away; nil if it has none.
    ///
    /// The list of them (``superseded()``) compares contents with those of all documents. This looks only where a
    /// content is by the facts: at the versions that share it, at documents that began with it, and at what the
    /// document's heir showed. So it may list a document whose content another one has by chance; it lists all that
    /// are shown nowhere else.
    public func replacement(by departure: NameRow) -> Deleted? {
        guard case .movedAway(let target) = departure.how,
            let occupant = lastOccupant(of: departure.place, before: departure.number), !occupant.hasNoVersions,
            occupant.maker == nil, isReplaced(occupant.document),
            lastDeparture(of: occupant.document)?.number == departure.number,
            !isPurged(departure, of: occupant.document)
        else { return nil }
        let heir = target.flatMap { self[$0] }.flatMap { row in
            row.document == occupant.document ? nil : shown(in: row.document, until: row.number.number)
        }
        let isNothingNew = versions(of: occupant.document).allSatisfy { version in
            if documents(from: version.number).contains(where: { isShown($0, insteadOf: occupant.document) }) {
                return true
            }
            let others = (heir.map { [$0] } ?? []) + versions(in: version.content)
            return others.contains {
                $0.fingerprint == version.fingerprint
                    && document(of: $0).map { isShown($0, insteadOf: occupant.document) } ?? false
            }
        }
        return isNothingNew ? nil : Deleted(departure: departure, occupant: occupant)
    }

    /// Whether another document shows its content, or the one that it began with (``needsOrigin(_:)``): a document with
    /// a name or an entry does. Of documents that were renamed over others the one with the most versions does. A copy
    /// that was thrown away (vim's `f~`) shows nothing.
    private func isShown(_ other: DocumentNumber, insteadOf document: DocumentNumber) -> Bool {
        guard other != document, needsOrigin(other) else { return false }
        guard isReplaced(other) else { return true }
        let (count, own) = (versions(of: other).count, versions(of: document).count)
        return (own, other) < (count, document)
    }
}
