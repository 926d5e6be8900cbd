// Versions that only one side makes, each by one rule.

import Lineage

extension Explanation {
    /// By which rule the container may not have a version.
    ///
    /// | the version | |
    /// |---|---|
    /// | was not saved yet when a call took it away | saved first |
    /// | is of a close in place or of a release, while others had the file open | a version at each close |
    /// | is what a file without a name was closed with | saved without a name |
    /// | is of an empty file that was found after a kill | found after a kill |
    ///
    /// What a name shows is a version of both.
    func onlyThen(_ version: VersionNumber) -> ListedChange? {
        guard let row = facts[version] else { return nil }
        if shadow.settled.contains(version), row.fingerprint.isEmpty { return .settledEmpty }
        if row.beside != .no || isSavedWithoutName(row) { return .savedWithoutName }
        if let document = facts.document(of: row), isHeld(version, by: document) { return nil }
        if shadow.isUnfinished(version) { return .savedFirst }
        return shadow.shared[version] != nil ? .writtenTogether : nil
    }

    /// By which rule the container may have a version not at all, or only since the close that acknowledges it.
    func notYet(_ version: VersionNumber) -> ListedChange? {
        if let rule = onlyThen(version) { return rule }
        let isHeld = facts.document(of: version).map { self.isHeld(version, by: $0) } ?? false
        return shadow.acknowledged[version] != nil && !isHeld ? .savedFirst : nil
    }

    /// The same for a version that a document, or what began with it, may not show: what its names hold is shown.
    func onlyThen(_ version: VersionNumber, in document: DocumentNumber) -> ListedChange? {
        let rule = onlyThen(version)
        return rule == .settledEmpty || !isHeld(version, by: document) ? rule : nil
    }

    /// Whether a file without a name was saved, and the container has no version of that, or only the deleted content.
    private func isSavedWithoutName(_ version: VersionRow) -> Bool {
        guard let row = facts[version.row], let departure = facts.departure(of: row) else { return false }
        // The call that has removed the name has made the version, and the close came later.
        let isOfRemoval = departure.how.isRemoval && shadow.acknowledged[version.number] != nil
        guard departure.number.number < version.number.number || isOfRemoval && !facts.hasName(row.document) else {
            return false
        }
        return version.fingerprint.isEmpty || shadow.settled.contains(version.number)
            || facts.versions(of: row.document).first?.number == version.number
    }

    /// By which rule the container may have a version of a document, or of its copy, where the rules have none.
    ///
    /// | the content | |
    /// |---|---|
    /// | was written to the file of a copy after that had parted | the version is not amended |
    /// | was a version that was amended | its handle goes on with it |
    /// | was in its file, and no close has acknowledged it | that saves nothing |
    func onlyToday(_ text: String, in document: DocumentNumber) -> Alignment.Reason? {
        let copies = facts.rows.filter { $0.isParted && $0.origin.flatMap { facts.document(of: $0) } == document }
        let isLater = copies.contains { copy in
            facts.versions(of: copy.document).contains { $0.file == copy.file && shadow.text($0.number) == text }
        }
        if isLater { return Alignment.Reason(rules: [.endsWithParting]) }
        let amended = facts.versions(of: document).last { has(text, shadow.formerly[$0.number] ?? []) }?.number.number
        if let amended { return Alignment.Reason(rules: [.amendsArrival], after: amended, before: amended) }
        let passed = shadow.passedOver[document]?.first { shadow.texts.text($0.key) == text }?.value
        return passed.map {
            Alignment.Reason(rules: [.notAtEachClose], after: $0.upperBound + 1, before: $0.lowerBound)
        }
    }

    /// Why the container has a content once more: the rules have no version of the bytes that came between.
    ///
    /// A copy that no program has saved holds what it began with. By the rules a restore of that makes no version.
    func againToday(_ index: Int, _ today: [String], in document: DocumentNumber) -> Alignment.Reason? {
        let isRestored = index == 0 && today.count > 1 && today[0] == today[1] && !facts.hasVersion(document)
        if isRestored, facts.firstRow(of: document)?.isParted ?? false {
            return Alignment.Reason(rules: [.isBehindOrigin])
        }
        guard let equal = today[(index + 1)...].firstIndex(of: today[index]), equal > index + 1 else { return nil }
        let between = today[(index + 1)..<equal].map { onlyToday($0, in: document)?.rules }
        return between.contains(nil) ? nil : Alignment.Reason(rules: between.compactMap(\.self).flatMap(\.self))
    }

    /// Why the container's copy began with an older version: the container has none of the copy's origin.
    func beginning(_ text: String, of document: DocumentNumber) -> Alignment.Reason? {
        guard let origin = facts.origin(of: document), facts.firstRow(of: document)?.isParted ?? false,
            let rule = notYet(origin), let former = facts.document(of: origin),
            let before = facts.history(of: former).first(where: { $0 < origin && notYet($0) == nil }),
            shadow.text(before) == text
        else { return nil }
        return Alignment.Reason(rules: [rule], after: origin.number, before: before.number)
    }

    /// Why the rules have a content once more: the container has no version of the bytes that came between, so the
    /// content stays one version. After a kill the container has set those bytes aside, and shows them somewhere.
    func again(_ version: VersionNumber, in document: DocumentNumber) -> [ListedChange]? {
        guard let row = facts[version] else { return nil }
        let older = facts.history(of: document).filter { $0 < version }
        guard let equal = older.firstIndex(where: { facts.fingerprint($0) == row.fingerprint }), equal > 0 else {
            return nil
        }
        let isSettled = shadow.settled.contains(version)
        let between = older[..<equal].filter { facts[$0]?.beside == .no }
        if between.isEmpty || isSettled && !between.allSatisfy({ today.shown.contains(shadow.text($0)) }) { return nil }
        let rules = between.map { version in
            notYet(version) ?? (isSettled ? turns.first { $0.isBack && $0.document == document }?.change : nil)
        }
        return rules.contains(nil) ? nil : rules.compactMap(\.self)
    }

    /// Whether a version held this when a rename made it, in the middle of writing. By the rules the handle went on
    /// with it until another one overwrote its bytes. The container would have amended it at the close, which a kill
    /// has left out.
    func isAmendedBeforeKill(_ version: VersionNumber, from text: String) -> Bool {
        isAmendedBeforeKill(version) && has(text, shadow.formerly[version] ?? [])
    }

    private func isAmendedBeforeKill(_ version: VersionNumber) -> Bool {
        shadow.kills.contains { version.number <= $0 } && shadow.amendedFirst.contains(version)
    }

    // MARK: All contents

    /// Whether each content that one side shows is shown by the other one, but for versions that this has not.
    ///
    /// - Parameter changes: by which both differ.
    func isComplete(_ changes: Set<ListedChange>) -> Bool {
        let passed = shadow.passedOver.values.map { Set($0.keys) } + Array(shadow.formerly.values)
        let leftOut = changes.contains(where: \.leavesOut) ? Set(passed.joined().map(shadow.texts.text)) : []
        let both = facts.versions.filter { version in
            !version.isForgotten && onlyThen(version.number) == nil && !isAmendedBeforeKill(version.number)
        }
        let shownByBoth = shadow.shown.intersection(both.map { shadow.text($0.number) })
        return today.shown.subtracting(leftOut).isSubset(of: shadow.shown) && shownByBoth.isSubset(of: today.shown)
    }

    private func has(_ text: String, _ contents: some Sequence<Fingerprint>) -> Bool {
        contents.contains { shadow.texts.text($0) == text }
    }
}
