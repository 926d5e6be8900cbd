// Documents, versions and deletions as users see them, read from the facts.

import Lineage
import VersionModel

/// Answers with the values that the control protocol and the tree under `.versions` show: items, versions, deletions.
/// Their identities and authors are looked up for each answer.
public struct FactHistory: Sendable {
    let store: FactStore
    let device: DeviceID
    let area: DeletedArea
    let users: UserNames
    /// Whether a program may go on with a document's current version, so that it changes still.
    public var mayChange: @Sendable (VersionRow) -> Bool = { _ in true }
    /// How many elements of a list one access to the catalog reads.
    static let portion = 256

    /// - Parameter store: of the same container; it tells which device this is.
    public init(_ facts: FactStore, of store: ContainerState) {
        (self.store, device, area, users) = (facts, store.identity.device, store.deletedArea, UserNames())
    }

    public var lists: FactReader { store.lists }

    /// The last number that a fact has.
    public func lastNumber() throws(StoreError) -> UInt64 { try lists.look { try FactTables.lastNumber($0.database) } }

    /// All elements of a list that is read by pages.
    public func all<Element, Cursor>(
        _ page: (Cursor?, Int) throws(StoreError) -> FactPage<Element, Cursor>
    ) throws(StoreError) -> [Element] {
        var (elements, cursor): ([Element], Cursor?) = ([], nil)
        repeat {
            let next = try page(cursor, Self.portion)
            elements += next.elements
            cursor = next.next
        } while cursor != nil
        return elements
    }

    // MARK: Documents

    /// The document that has a name, if it has a version.
    public func item(at place: Place) throws(StoreError) -> Item? {
        guard let name = try lists.name(at: place), !name.row.hasNoVersions else { return nil }
        return try item(of: name.row.document)
    }

    public func item(_ id: ItemID) throws(StoreError) -> Item? { 
        try store.document(id).flatMap { document throws(StoreError) in try self.item(of: document) }
    }

    func item(of document: DocumentNumber) throws(StoreError) -> Item? {
        guard let current = try lists.heads(of: document).current, let version = try lists.version(current),
            let id = try lists.id(of: document), let versionID = try lists.id(of: current)
        else { return nil }
        let names = try lists.names(of: document)
        let file = names.last?.row.file ?? version.row.file
        return Item(
            id: id, places: names.map(\.place), current: versionID,
            file: Item.LiveFile(
                id: file, size: version.row.fingerprint.size, modified: version.row.modified,
                changed: version.detail.changed))
    }

    /// The documents of a directory that have conflicts or history.
    public func itemsWithOtherVersions(in directory: FileID) throws(StoreError) -> [Item] {
        let names = try all { name, limit throws(StoreError) in
            try lists.names(in: directory, after: name, limit: limit)
        }
        var items: [Item] = []
        for name in names where !name.row.hasNoVersions {
            guard try hasOtherVersions(name.row.document), let item = try item(of: name.row.document) else { continue }
            items.append(item)
        }
        return items
    }

    /// Whether a document has versions besides its current one.
    public func hasOtherVersions(_ item: ItemID) throws(StoreError) -> Bool {
        guard let document = try store.document(item) else { return false }
        return try hasOtherVersions(document)
    }

    private func hasOtherVersions(_ document: DocumentNumber) throws(StoreError) -> Bool {
        try lists.versions(of: document, limit: 2).elements.count > 1
    }

    // MARK: Versions

    /// The versions of a document, newest first.
    public func versions(of item: ItemID) throws(StoreError) -> [Version] {
        guard let document = try store.document(item) else { return [] }
        let listed = try all { cursor, limit throws(StoreError) in
            try lists.versions(of: document, from: cursor, limit: limit)
        }
        return try versions(listed, of: item)
    }

    /// The unsettled losers of a document, newest first.
    public func conflicts(of item: ItemID) throws(StoreError) -> [Version] {
        guard let document = try store.document(item) else { return [] }
        var listed: [ListedVersion] = []
        for number in try lists.heads(of: document).conflicts.reversed() {
            guard var version = try lists.version(number) else { continue }
            version.kind = .conflict
            listed.append(version)
        }
        return try versions(listed, of: item)
    }

    public func version(_ number: VersionNumber) throws(StoreError) -> Version? {
        try lists.version(number).map { listed throws(StoreError) in try version(listed) }
    }

    public func version(_ id: VersionID) throws(StoreError) -> Version? {
        guard let number = try store.version(id), let listed = try lists.version(number) else { return nil }
        return try version(listed)
    }

    /// The versions whose identity begins with these hex digits that the documents at a place show, or showed when
    /// they were deleted there.
    public func versions(withPrefix digits: String, at place: Place) throws(StoreError) -> [Version] {
        guard let named = try lists.named(byDigits: digits, limit: Self.portion) else { return [] }
        let documents = try documents(at: place)
        var found: [Version] = []
        for case .version(let number) in named.found {
            guard let row = try lists.version(number) else { continue }
            for document in documents where try shows(row, document) {
                var listed = row
                let heads = try lists.heads(of: document)
                listed.kind =
                    number == heads.current ? .current : heads.conflicts.contains(number) ? .conflict : .history
                if let item = try lists.id(of: document) { found.append(try version(listed, of: item)) }
                break
            }
        }
        return found
    }

    /// Whether a list of a document has a version: its own, or what it began with.
    private func shows(_ version: ListedVersion, _ document: DocumentNumber) throws(StoreError) -> Bool {
        if version.document == document { return true }
        return try lists.look { $0.facts.origin(of: document) } == version.number
    }

    /// The documents that have a name, or had it when they were deleted.
    private func documents(at place: Place) throws(StoreError) -> [DocumentNumber] {
        let live = try lists.name(at: place).flatMap { $0.row.hasNoVersions ? nil : $0.row.document }
        let deleted = try all { before, limit throws(StoreError) in
            try lists.deleted(at: place, before: before, limit: limit)
        }
        return (live.map { [$0] } ?? []) + deleted.filter { !$0.occupant.hasNoVersions }.map(\.occupant.document)
    }
}

// MARK: Values

extension FactHistory {
    func versions(_ listed: [ListedVersion], of item: ItemID) throws(StoreError) -> [Version] {
        var versions: [Version] = []
        versions.reserveCapacity(listed.count)
        let parents = try lists.parents(of: listed.map(\.row))
        for (version, parents) in zip(listed, parents) {
            versions.append(try self.version(version, parents: parents, of: item))
        }
        return versions
    }

    /// - Parameter item: the document in whose list it is; nil: its own.
    func version(_ listed: ListedVersion, of item: ItemID? = nil) throws(StoreError) -> Version {
        try version(listed, parents: try lists.parents(of: [listed.row]).first ?? [], of: item)
    }

    private func version(
        _ listed: ListedVersion, parents: [VersionID], of item: ItemID?
    ) throws(StoreError) -> Version {
        let (row, detail) = (listed.row, listed.detail)
        let home = try item == nil ? lists.id(of: listed.document) : nil
        guard let id = store.id(of: row.number, detail), let item = item ?? home else {
            throw .catalog(code: 11, "version \(row.number) has no identity")
        }
        let author = try author(row.author)
        let base = try row.base.flatMap { base throws(StoreError) in try lists.id(of: base) }
        let attributes = detail.attributes ?? Attributes(mode: 0o600, owner: 0, group: 0)
        var flags: Version.Flags = listed.kind == .current && mayChange(row) ? [] : .sealed
        if detail.marks.contains(.pinned) { flags.insert(.pinned) }
        if detail.marks.contains(.lost) { flags.insert(.contentLost) }
        if detail.marks.contains(.unfinished) { flags.insert(.unfinished) }
        if row.beside != .no { flags.insert(.beside) }
        return Version(
            id: id, item: item, kind: listed.kind, content: ContentID(row.content), size: row.fingerprint.size,
            modified: row.modified, saved: row.time, time: HybridTime(wall: row.time, logical: 0), device: device,
            author: author ?? users.owner(attributes.owner), parents: parents,
            base: base, hash: detail.hash, attributes: attributes, flags: flags)
    }

    func author(_ actor: ActorNumber?) throws(StoreError) -> Author? {
        guard let actor else { return nil }
        return try store.actor(actor)?.author
    }
}

extension ContentID {
    /// The name of the object with a content: its file and generation.
    public init(_ content: Content) { self.init(high: content.file.number, low: content.generation) }
}

extension Content {
    /// The content of an object.
    public init(_ id: ContentID) { self.init(file: FileID(id.high), generation: id.low) }
}
