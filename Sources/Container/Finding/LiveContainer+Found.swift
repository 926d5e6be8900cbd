// What finding asks of a live container, and what asks it to find.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer: FoundContainer {
    var maxFile: UInt64 { settings.maxFile }

    func found(_ spot: Spot, _ node: Node, _ stat: FileStat) throws -> () throws -> FoundDocument {
        let document = try document(of: node, stat, at: spot.place, in: spot.parent)
        let found = document.state.withLock { ($0.item, $0.current) }
        return { found }
    }

    func remembered(_ names: [FileName], in directory: FileID) -> [FileName: RememberedName] {
        var found: [FileName: RememberedName] = [:]
        for name in names {
            guard let document = documents.documentInMemory(at: Place(directory: directory, name: name)) else {
                continue
            }
            found[name] = document.state.withLock { state in
                guard let current = state.current, !state.isUntold else { return .untold }
                return .document(state.item, current)
            }
        }
        return found
    }

    func unrecorded(_ stat: FileStat) -> Version { derivedCurrent(stat) }
    func ignores(_ path: TreePath) -> Bool { policy.ignores(path) }

    func lastPath(of item: ItemID, _ versions: [Version]) -> TreePath? {
        for version in versions {
            let labels = (try? store.contents.labels(of: version.content)) ?? []
            if let label = labels.first(where: { $0.version.id == version.id }) { return label.path }
        }
        return nil
    }

    /// The live document if it holds this version; its kept copy during a change.
    func liveFile(at path: TreePath, _ version: VersionID) -> SharedDescriptor? {
        try? looking(as: .container) { walk -> SharedDescriptor? in
            let (spot, node, stat) = try walk.document(path)
            let document = try document(of: node, stat, at: spot.place, in: spot.parent)
            return try document.state.withLock { state in
                guard let current = state.current, current.id == version, !state.isReturning else { return nil }
                let now = try Backing.stat(spot.name.bytes, in: spot.directory.raw)
                if state.isKept, state.differs(from: now), let kept = try? store.contents.open(current.content) {
                    return SharedDescriptor(kept.rawValue)
                }
                return try spot.open(flags: O_RDONLY)
            }
        }
    }
}

extension LiveContainer {
    public var finder: Finder { Finder(self) }

    public func document(at path: TreePath, as principal: Principal) throws(OperationError) -> DocumentRecord {
        try finder.document(at: path, as: principal)
    }

    public func document(_ item: ItemID, as principal: Principal) throws(OperationError) -> DocumentRecord {
        try finder.document(item, as: principal)
    }

    func deletions(at path: TreePath) throws -> [Deletion] { try finder.deletions(at: path) }

    public func conflicted(within path: TreePath, as principal: Principal) throws(OperationError) -> [DocumentRecord] {
        try finder.conflicted(within: path, as: principal)
    }

    public func content(of version: Version, in document: DocumentRecord) throws(OperationError) -> OpenContent {
        try finder.content(of: version, in: document)
    }

    func deletedFile(of item: ItemID) throws -> SharedDescriptor? { try finder.deletedFile(of: item) }

    public func version(_ digits: String, of document: DocumentRecord) throws(OperationError) -> Version {
        try finder.version(digits, of: document)
    }

    public func identified(by digits: String, as principal: Principal) throws(OperationError) -> Identified {
        try finder.identified(by: digits, as: principal)
    }

    public func deleted(within path: TreePath?, as principal: Principal) throws(OperationError) -> [Deletion] {
        try finder.deleted(within: path, as: principal)
    }

    public func deletion(at path: TreePath, as principal: Principal) throws(OperationError) -> Deletion {
        try finder.deletion(at: path, as: principal)
    }

    // MARK: What a caller may know

    public func knowsAll(_ principal: Principal) -> Bool { finder.knowsAll(principal) }

    public func mayRead(_ version: Version, of document: DocumentRecord, as principal: Principal) -> Bool {
        finder.mayRead(version, of: document, as: principal)
    }

    public func mayList(_ directory: TreePath, as principal: Principal) -> Bool {
        finder.mayList(directory, as: principal)
    }

    public func mayKnow(_ deletion: Deletion, _ principal: Principal) -> Bool { finder.mayKnow(deletion, principal) }

    public func mayKnow(_ deletion: Deletion, _ principal: Principal, _ known: inout KnownDirectories) -> Bool {
        finder.mayKnow(deletion, principal, &known)
    }

    public func mayKnow(_ change: Change, as principal: Principal, _ known: inout KnownDirectories) -> Bool {
        finder.mayKnow(change, as: principal, &known)
    }

    public func mayKnow(
        _ path: TreePath, in directory: FileID?, as principal: Principal, _ known: inout KnownDirectories
    ) -> Bool {
        finder.mayKnow(path, in: directory, as: principal, &known)
    }

    public func mayKnow(
        _ change: Change, ofItemAt place: TreePath, then next: TreePath, as principal: Principal
    ) -> Bool {
        finder.mayKnow(change, ofItemAt: place, then: next, as: principal)
    }

    func mayTake(_ deletion: Deletion, _ principal: Principal) -> Bool { finder.mayTake(deletion, principal) }

    func mayTake(_ deletion: Deletion, _ principal: Principal, _ known: inout KnownDirectories) -> Bool {
        finder.mayTake(deletion, principal, &known)
    }

    func livePath(of directory: FileID) -> TreePath? { finder.livePath(of: directory) }
}
