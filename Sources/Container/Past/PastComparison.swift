// How a directory differs from what it was: the names of then and of now side by side, and the documents saved since.

import VersionModel
import VersionStore

/// A name that is not what it was.
public struct PastDifference: Sendable {
    /// A version that a name stood for.
    public struct Side: Sendable {
        public var version: Version
        public var document: DocumentRecord
    }

    public var path: TreePath
    public var isDirectory: Bool
    /// Whether the name was there.
    public var wasThere: Bool
    /// Whether the name is there.
    public var isThere: Bool
    /// What it stood for; nil for what has no versions.
    public var then: Side?
    /// What it stands for; nil for what has no versions.
    public var now: Side?
}

/// One comparison. Used by one thread.
struct PastComparison {
    private let past: Past
    private let present: any PresentTree
    private let aftermath: Aftermath
    private let tree: PastTree
    private let principal: Principal
    private var known = KnownDirectories()
    private var found: [PastDifference] = []

    init(_ past: Past, _ present: any PresentTree, _ aftermath: Aftermath, as principal: Principal) throws {
        (self.past, self.present, self.aftermath, self.principal) = (past, present, aftermath, principal)
        tree = try PastTree(past, present, aftermath)
    }

    mutating func differences(in path: TreePath) throws -> [PastDifference] {
        guard let then = tree.entry(path) else { throw OperationError.missing(path) }
        guard then.isDirectory else { throw OperationError(.invalid, "was not a directory then", path: path) }
        _ = tree.lying(at: path).map { tree.children(of: $0) }
        let now = tree.lying(at: path)
        if now?.isDirectory ?? false { try requireListing(path) }
        try compareNames(then, now, path)
        try compareContents(in: path)
        return found.sorted { $0.path < $1.path }
    }

    private func requireListing(_ path: TreePath) throws {
        guard principal.isRoot || present.mayList(path, as: principal) else { throw OperationError.denied(path) }
    }

    // MARK: Names

    private mutating func compareNames(_ then: PastEntry, _ now: PastEntry?, _ path: TreePath) throws {
        // In a directory without loaded children no name has changed.
        if then === now, then.children == nil { return }
        let children = tree.children(of: then)
        if let now { _ = tree.children(of: now) }
        let lying = now?.present ?? [:]
        for name in Set(children.keys).union(lying.keys) {
            let path = path.appending(name)
            switch (children[name], lying[name]) {
            case (let was?, let this?) where was.isDirectory && this.isDirectory:
                if present.knowsAll(principal) || present.mayList(path, as: principal) {
                    try compareNames(was, this, path)
                }
            case (let was?, let this?) where was === this: continue
            case (let was, let this): try add(path, was, this)
            }
        }
    }

    private mutating func add(_ path: TreePath, _ was: PastEntry?, _ this: PastEntry?) throws {
        var difference = PastDifference(
            path: path, isDirectory: (was ?? this)?.isDirectory ?? false, wasThere: was != nil, isThere: this != nil)
        if let was, !was.isDirectory {
            guard let side = try then(was) else { return }
            difference.then = side.map { .init(version: $0.content.version, document: $0.document) }
        }
        if let was, case .deleted(let deletion) = was.source, !present.mayKnow(deletion, principal, &known) { return }
        if this?.isDirectory == false {
            difference.now = (try? present.document(at: path, as: principal)).flatMap { now($0) }
        }
        if let then = difference.then, let now = difference.now,
            present.holds(then.version, of: then.document, now.document)
        {
            return
        }
        found.append(difference)
    }

    /// What a file of then held; nil if the caller may not read that, and nil within it if it has no versions.
    private func then(_ entry: PastEntry) throws -> (document: DocumentRecord, content: Aftermath.Content)?? {
        let side: (document: DocumentRecord, content: Aftermath.Content)?
        switch entry.source {
        case .lost(let document, let content): side = (document, content)
        case .live(let path):
            let document = try? present.document(at: path, as: .container)
            side = try document.flatMap { try past.contentThen(of: $0, aftermath) }
        case .deleted(let deletion):
            guard let item = deletion.item else { return .some(nil) }
            let document = DocumentRecord(
                path: deletion.path, item: item, versions: try past.store.versions(of: item), deletion: deletion)
            side = try past.contentThen(of: document, aftermath)
        }
        guard let side else { return .some(nil) }
        return present.mayRead(side.content.version, of: side.document, as: principal) ? .some(side) : nil
    }

    private func now(_ document: DocumentRecord) -> PastDifference.Side? {
        guard let current = document.current, present.mayRead(current, of: document, as: principal) else {
            return nil
        }
        return .init(version: current, document: document)
    }

    // MARK: Contents

    private mutating func compareContents(in path: TreePath) throws {
        for document in try past.documentsChanged(since: aftermath.time, within: path, in: present).documents {
            guard let then = tree.entry(document.path), !then.isDirectory, case .live(document.path) = then.source,
                (try? present.document(at: document.path, as: principal)) != nil,
                let (former, content) = try past.contentThen(of: document, aftermath),
                !present.holds(content.version, of: former, document),
                present.mayRead(content.version, of: former, as: principal), let now = now(document)
            else { continue }
            found.append(
                PastDifference(
                    path: document.path, isDirectory: false, wasThere: true, isThere: true,
                    then: .init(version: content.version, document: former), now: now))
        }
    }
}
