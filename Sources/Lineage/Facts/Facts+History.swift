// What the versions say of documents and contents (facts.md 1, "Derived by pure functions").

import VersionModel

extension Facts {
    /// The versions that were saved as a document, oldest first.
    public func versions(of document: DocumentNumber) -> [VersionRow] {
        let recorded = log.map { $0.log.versions(of: document).map(now).filter { !$0.isForgotten } } ?? []
        return recorded + versions.filter { belongs($0, to: document) }
    }

    /// Whether a document has any version of its own.
    public func hasVersion(_ document: DocumentNumber) -> Bool {
        versions.contains { belongs($0, to: document) } || newestRecorded(of: document) != nil
    }

    /// The version of another document that this one begins with.
    public func origin(of document: DocumentNumber) -> VersionNumber? {
        guard let origin = firstRow(of: document)?.origin, let version = self[origin], !version.isForgotten else {
            return nil
        }
        return origin
    }

    /// The version that a document's names show: its newest, or what it began with.
    public func current(of document: DocumentNumber) -> VersionNumber? {
        var index = versions.count - 1
        while index >= 0 {
            if versions[index].beside == .no, belongs(versions[index], to: document) { return versions[index].number }
            index -= 1
        }
        return newestRecorded(of: document, isShown: true)?.number ?? origin(of: document)
    }

    /// The newest version of a document that its names showed, until a number.
    func shown(in document: DocumentNumber, until number: UInt64) -> VersionRow? {
        let added = versions.last { $0.number.number <= number && $0.beside == .no && belongs($0, to: document) }
        return added ?? newestRecorded(of: document, until: number, isShown: true)
    }

    /// The newest version of a document of its own.
    func newestVersion(of document: DocumentNumber) -> VersionRow? {
        versions.last { belongs($0, to: document) } ?? newestRecorded(of: document)
    }

    /// The documents that begin with a version of another one.
    func documents(from version: VersionNumber) -> [DocumentNumber] {
        let recorded = log.map { $0.log.documents(from: version) } ?? []
        return recorded + rows.filter { $0.origin == version }.map(\.document)
    }

    /// The newest version of a document that has these bytes.
    func newest(of document: DocumentNumber, equalTo content: Fingerprint) -> VersionRow? {
        if let added = versions.last(where: { $0.fingerprint == content && belongs($0, to: document) }) { return added }
        guard let log else { return nil }
        let recorded = log.log.versions(of: document, equalTo: content).map(now)
        return (recorded + amended).filter { $0.fingerprint == content && belongs($0, to: document) }
            .max { $0.number < $1.number }
    }

    /// What the list of a document's versions shows: its own and what it began with, newest first.
    public func listing(of document: DocumentNumber) -> [VersionNumber] {
        var listing = versions(of: document).reversed().map(\.number)
        if let origin = origin(of: document), !listing.contains(origin) { listing.append(origin) }
        return listing
    }

    /// All that a document goes back to, newest first: its own versions, and through `origin` what the documents before
    /// it had been by then.
    public func history(of document: DocumentNumber) -> [VersionNumber] {
        var history: [VersionNumber] = []
        var (document, last) = (document, VersionNumber(.max))
        while true {
            for version in versions(of: document).reversed() where version.number <= last {
                if !history.contains(version.number) { history.append(version.number) }
            }
            guard let origin = origin(of: document), !history.contains(origin) else { return history }
            history.append(origin)
            guard let before = self.document(of: origin), before != document else { return history }
            (document, last) = (before, origin)
        }
    }

    /// Whether a document goes back to a version, as in ``history(of:)``, without a list.
    func goesBack(_ document: DocumentNumber, to version: VersionNumber) -> Bool {
        guard let row = self[version], !row.isForgotten, let home = self.document(of: row) else { return false }
        var (document, last) = (document, VersionNumber(.max))
        // Each origin is older than the one before, so the walk ends.
        while true {
            if home == document, version <= last { return true }
            guard let origin = origin(of: document), origin < last else { return false }
            if origin == version { return true }
            guard let before = self.document(of: origin), before != document else { return false }
            (document, last) = (before, origin)
        }
    }

    /// The versions of a document that lost against another and are not settled, oldest first.
    public func conflicts(of document: DocumentNumber) -> [VersionNumber] {
        var conflicts: [VersionNumber] = []
        for version in rivals(of: document) { add(rivalsOf: version, to: &conflicts) }
        guard !conflicts.isEmpty else { return [] }
        let current = current(of: document)
        var found: [VersionNumber] = []
        for version in conflicts.sorted() where version != current && !isSettled(version) && found.last != version {
            found.append(version)
        }
        return found
    }

    /// The versions of a document that have a loser, or lie beside it as a conflict, oldest first.
    func rivals(of document: DocumentNumber) -> [VersionRow] {
        let recorded = log.map { $0.log.rivals(of: document).map(now).filter { !$0.isForgotten } } ?? []
        return recorded
            + versions.filter { ($0.loser != nil || $0.beside == .conflict) && belongs($0, to: document) }
    }

    private func add(rivalsOf version: VersionRow, to conflicts: inout [VersionNumber]) {
        // A loser may be purged while its winner stays, because another document began with that.
        if let loser = version.loser, !(self[loser]?.isForgotten ?? true) { conflicts.append(loser) }
        if version.beside == .conflict { conflicts.append(version.number) }
    }

    /// Whether a version is an unsettled conflict of its document.
    public func isConflict(_ version: VersionNumber) -> Bool {
        guard let document = document(of: version) else { return false }
        return conflicts(of: document).contains(version)
    }

    /// Whether a document was saved at home under a name that it has had since a row.
    func isSavedAtHome(_ document: DocumentNumber, after row: RowNumber) -> Bool {
        let isAdded = versions.contains {
            $0.isAtHome && $0.row > row && !$0.isForgotten && self.document(of: $0) == document
        }
        if isAdded { return true }
        return amended.contains { $0.isAtHome && $0.row > row && belongs($0, to: document) }
            || log.map { $0.log.isSavedAtHome(document, after: row) } ?? false
    }

    // MARK: Contents

    /// The versions that are in a content, oldest first.
    public func versions(in content: Content) -> [VersionRow] {
        let known = log?.log.versions(in: content) ?? []
        // Most plans ask before they record a version.
        if log != nil, versions.isEmpty, amended.isEmpty { return known }
        let added = versions.filter { !$0.isForgotten && $0.content == content }
        return known.map(now).filter { !$0.isForgotten && $0.content == content } + added
    }

    /// The last of a file's contents that a version was in, also a forgotten one.
    public func lastContent(of file: FileID) -> Content? {
        let added = versions.filter { $0.content.file == file }.map(\.content)
        return (added + (log?.log.lastContent(of: file).map { [$0] } ?? [])).max { $0.generation < $1.generation }
    }

    /// How many versions are in a content.
    public func countOfVersions(in content: Content) -> Int {
        var count = 0
        for version in versions where !version.isForgotten && version.content == content { count += 1 }
        guard let log else { return count }
        if amended.isEmpty { return count + log.log.countOfVersions(in: content) }
        return count + log.log.versions(in: content).count { !now($0).isForgotten }
    }

    private func belongs(_ version: VersionRow, to document: DocumentNumber) -> Bool {
        !version.isForgotten && self.document(of: version) == document
    }

    /// The newest version of a document that the log has, and that was not forgotten since.
    private func newestRecorded(
        of document: DocumentNumber, until number: UInt64 = .max, isShown: Bool = false
    ) -> VersionRow? {
        guard let log else { return nil }
        var last = number
        while let version = log.log.newestVersion(of: document, until: last, isShown: isShown) {
            let version = now(version)
            if !version.isForgotten { return version }
            guard version.number.number > 0 else { break }
            last = version.number.number - 1
        }
        return nil
    }
}
