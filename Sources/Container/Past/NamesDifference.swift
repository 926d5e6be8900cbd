// A directory going back in place to what it was: the difference between its names of today and those of then.

import VersionModel
import VersionStore

/// The names that have to move, come back or go, so that a directory has its names of a moment. Changes nothing.
/// Used by one thread.
final class NamesDifference {
    private let live: any ReturningTree
    private let path: TreePath
    private let aftermath: Aftermath
    let tree: PastTree
    /// The directory of then.
    let top: PastEntry
    /// What does not lie where it was: to be moved, undeleted or made.
    private(set) var missing: [PastEntry] = []
    /// What lies where it was not, and is nowhere in the directory of then.
    private(set) var unwanted: [PastEntry] = []
    /// Where the directory and those above it go: into what has the names of those above today.
    private var homes: [ObjectIdentifier: PastEntry] = [:]
    /// What was made since and holds what had that name.
    private var standIns: Set<ObjectIdentifier> = []
    /// The documents of these.
    private(set) var held: Set<ItemID> = []

    init(_ past: Past, _ live: any ReturningTree, _ path: TreePath, _ aftermath: Aftermath) throws {
        (self.live, self.path, self.aftermath) = (live, path, aftermath)
        tree = try PastTree(past, live, aftermath)
        let then = tree.entry(path)
        // What had another name then keeps the one that it was asked for by.
        guard let top = then ?? tree.lying(at: path), top === then || top.then != nil else {
            throw OperationError.missing(path)
        }
        guard top.isDirectory else { throw OperationError(.notFound, "was not a directory then", path: path) }
        self.top = top
        if top === then { try findWayDown() }
        compare()
    }

    func home(of entry: PastEntry) -> PastEntry? { homes[ObjectIdentifier(entry)] ?? entry.then?.parent }

    /// Whether it is to be in the directory.
    func isWanted(_ entry: PastEntry) -> Bool { entry.was(within: top) }

    /// The directories above stay what they are today; those that are gone come back.
    private func findWayDown() throws {
        guard var above = tree.entry(.root), path != .root else { return }
        var passed = TreePath.root
        for name in path.names {
            passed = passed.appending(name)
            guard let then = tree.entry(passed) else { throw OperationError.missing(path) }
            _ = tree.children(of: above)
            homes[ObjectIdentifier(then)] = above
            if then === top {
                if let there = above.present[name], there !== top, !isWanted(there) { unwanted.append(there) }
                if !isInPlace(top) { missing.append(top) }
            } else if let there = above.present[name], there.isDirectory {
                above = there
            } else if case .deleted = then.source {
                missing.append(then)
                above = then
            } else {
                throw OperationError.renamedAbove(path)
            }
        }
    }

    private func isInPlace(_ entry: PastEntry) -> Bool {
        guard let now = entry.now, let home = home(of: entry) else { return false }
        return now.parent === home && now.name == entry.then?.name
    }

    /// A directory without loaded children has not changed.
    private func compare() {
        var next = [top]
        while let directory = next.popLast() {
            guard let children = directory.children else { continue }
            for (name, child) in children.sorted(by: { $0.key < $1.key }) {
                if child.isDirectory { next.append(child) }
                if isInPlace(child) { continue }
                if let there = directory.present[name], isStandIn(there, for: child) {
                    standIns.insert(ObjectIdentifier(there))
                } else {
                    missing.append(child)
                }
            }
            unwanted += directory.present.sorted { $0.key < $1.key }.map(\.value).filter {
                !isWanted($0) && !standIns.contains(ObjectIdentifier($0))
            }
        }
        // What was deleted last comes back first: a name of a file before the names that it had besides.
        missing = missing.enumerated().sorted { one, other in
            let (first, second) = (rank(one.element), rank(other.element))
            guard first.rank == second.rank else { return first.rank < second.rank }
            return first.deleted == second.deleted ? one.offset < other.offset : second.deleted < first.deleted
        }.map(\.element)
    }

    private func rank(_ entry: PastEntry) -> (rank: Int, deleted: Timestamp) {
        switch entry.source {
        case .live: (0, aftermath.time)
        case .deleted(let deletion): (1, deletion.deleted)
        case .lost: (2, aftermath.time)
        }
    }

    /// Whether what lies there holds what was lost: an earlier return has made it.
    private func isStandIn(_ there: PastEntry, for lost: PastEntry) -> Bool {
        guard case .lost(let former, let content) = lost.source, !there.isDirectory, !isWanted(there),
            let document = try? live.document(at: there.path, as: .container),
            live.holds(content.version, of: former, document)
        else { return false }
        held.insert(document.item)
        return true
    }
}
