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

extension LiveContainer {
    /// What in a directory is not as it was, by path, as far as the caller may know it. Of a directory that came or
    /// went the entries below it are left out.
    public func differences(
        in path: TreePath, since time: Timestamp, as principal: Principal
    ) throws(OperationError) -> [PastDifference] {
        try operation {
            try requireThen(path, at: time)
            let aftermath = Aftermath(since: time, try changes { $0.time > time }, try store.deletions(within: nil))
            var comparison = PastComparison(self, aftermath, try PastTree(self, aftermath), as: principal)
            return try comparison.differences(in: path)
        }
    }

    /// The moment before the last run of a program that changed something in a directory; nil if none is remembered.
    /// - Parameter program: a name, or the number of a process.
    public func momentBefore(
        lastRunOf program: String, in path: TreePath, as principal: Principal
    ) throws(OperationError) -> Timestamp? {
        try operation {
            let all = try changes { _ in true }
            let inside = all.indices.filter { index in
                all[index].author != nil
                    && (all[index].path.isWithin(path) || all[index].from.map { $0.isWithin(path) } ?? false)
            }
            let wanted = RunName(program, among: inside.lazy.compactMap { all[$0].author })
            var known = KnownDirectories()
            let last = inside.last { index in
                all[index].author.map { wanted.matches($0) } ?? false && mayKnow(all[index], as: principal, &known)
            }
            guard let last, let author = all[last].author else { return nil }
            let first = author.process > 0 ? inside.first { all[$0].author == author } ?? last : last
            return moment(before: first, in: all)
        }
    }

    /// A version and a deletion have times of their own, a little before that of the row: so the moment of the row
    /// before is meant.
    private func moment(before index: Int, in rows: [Change]) -> Timestamp {
        let time = rows[index].time
        guard index > 0 else { return max(time.advanced(byNanoseconds: -1_000_000_000), adoption ?? time) }
        return min(rows[index - 1].time, time.advanced(byNanoseconds: -1))
    }
}

/// One comparison. Used by one thread.
private struct PastComparison {
    private let container: LiveContainer
    private let aftermath: Aftermath
    private let tree: PastTree
    private let principal: Principal
    private var known = LiveContainer.KnownDirectories()
    private var found: [PastDifference] = []

    init(_ container: LiveContainer, _ aftermath: Aftermath, _ tree: PastTree, as principal: Principal) {
        (self.container, self.aftermath, self.tree, self.principal) = (container, aftermath, tree, principal)
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
        guard principal.isRoot || container.mayList(path, as: principal) else { throw OperationError.denied(path) }
    }

    // MARK: Names

    private mutating func compareNames(_ then: PastEntry, _ now: PastEntry?, _ path: TreePath) throws {
        // In a directory without loaded children no name has changed.
        if then === now, then.children == nil { return }
        let children = tree.children(of: then)
        if let now { _ = tree.children(of: now) }
        let present = now?.present ?? [:]
        for name in Set(children.keys).union(present.keys) {
            let path = path.appending(name)
            switch (children[name], present[name]) {
            case (let was?, let this?) where was.isDirectory && this.isDirectory:
                if container.knowsAll(principal) || container.mayList(path, as: principal) {
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
        if let was, case .deleted(let deletion) = was.source, !container.mayKnow(deletion, principal, &known) { return }
        if this?.isDirectory == false {
            difference.now = (try? container.document(at: path, as: principal)).flatMap { now($0) }
        }
        if let then = difference.then, let now = difference.now,
            container.holds(then.version, of: then.document, now.document)
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
            let document = try? container.document(at: path, as: .container)
            side = try document.flatMap { try container.contentThen(of: $0, aftermath) }
        case .deleted(let deletion):
            guard let item = deletion.item else { return .some(nil) }
            let document = DocumentRecord(
                path: deletion.path, item: item, versions: try container.store.versions(of: item), deletion: deletion)
            side = try container.contentThen(of: document, aftermath)
        }
        guard let side else { return .some(nil) }
        return container.mayRead(side.content.version, of: side.document, as: principal) ? .some(side) : nil
    }

    private func now(_ document: DocumentRecord) -> PastDifference.Side? {
        guard let current = document.current, container.mayRead(current, of: document, as: principal) else {
            return nil
        }
        return .init(version: current, document: document)
    }

    // MARK: Contents

    private mutating func compareContents(in path: TreePath) throws {
        for document in try container.documentsChanged(since: aftermath.time, within: path).documents {
            guard let then = tree.entry(document.path), !then.isDirectory, case .live(document.path) = then.source,
                (try? container.document(at: document.path, as: principal)) != nil,
                let (former, content) = try container.contentThen(of: document, aftermath),
                !container.holds(content.version, of: former, document),
                container.mayRead(content.version, of: former, as: principal), let now = now(document)
            else { continue }
            found.append(
                PastDifference(
                    path: document.path, isDirectory: false, wasThere: true, isThere: true,
                    then: .init(version: content.version, document: former), now: now))
        }
    }
}
