// What the versions say of documents and contents (facts.md 1, "Derived by pure functions").

import VersionModel

extension Facts {
    /// The versions that were saved as a document, oldest first.
    public func versions(of document: DocumentNumber) -> [VersionRow] { versions.filter { belongs($0, to: document) } }

    /// Whether a document has any version of its own.
    public func hasVersion(_ document: DocumentNumber) -> Bool { versions.contains { belongs($0, to: document) } }

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
        return origin(of: document)
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
            for version in versions.reversed() where version.number <= last && belongs(version, to: document) {
                if !history.contains(version.number) { history.append(version.number) }
            }
            guard let origin = origin(of: document), !history.contains(origin) else { return history }
            history.append(origin)
            guard let before = self.document(of: origin), before != document else { return history }
            (document, last) = (before, origin)
        }
    }

    /// The versions of a document that lost against another and are not settled, oldest first.
    public func conflicts(of document: DocumentNumber) -> [VersionNumber] {
        var conflicts: [VersionNumber] = []
        for version in versions where belongs(version, to: document) {
            // A loser may be purged while its winner stays, because another document began with that.
            if let loser = version.loser, !(self[loser]?.isForgotten ?? true) { conflicts.append(loser) }
            if version.beside == .conflict { conflicts.append(version.number) }
        }
        guard !conflicts.isEmpty else { return [] }
        let current = current(of: document)
        var found: [VersionNumber] = []
        for version in conflicts.sorted()
        where version != current && !settled.contains(version) && found.last != version {
            found.append(version)
        }
        return found
    }

    /// Whether a version is an unsettled conflict of its document.
    public func isConflict(_ version: VersionNumber) -> Bool {
        guard let document = document(of: version) else { return false }
        return conflicts(of: document).contains(version)
    }

    /// The versions that are in a content, oldest first.
    public func versions(in content: Content) -> [VersionRow] {
        versions.filter { !$0.isForgotten && $0.content == content }
    }

    /// How many versions are in a content.
    public func countOfVersions(in content: Content) -> Int {
        var count = 0
        for version in versions where !version.isForgotten && version.content == content { count += 1 }
        return count
    }

    private func belongs(_ version: VersionRow, to document: DocumentNumber) -> Bool {
        !version.isForgotten && self.document(of: version) == document
    }
}
