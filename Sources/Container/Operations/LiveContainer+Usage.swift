// How much the tree, other versions and the deleted area take.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// The disk usage at or below a path, in bytes.
public struct SpaceOutcome: Hashable, Sendable {
    public var live: UInt64 = 0
    public var history: UInt64 = 0
    public var deleted: UInt64 = 0
    /// Everything in the tree was counted; false if there was no time for all of it.
    public var isComplete = true
    /// Directories that are containers of their own: their files are not counted.
    public var nested: [TreePath] = []
    /// More than that are not listed.
    static let mostNested = 16
}

extension LiveContainer {
    /// Adds up what lies at or below a path, as far as the caller may look into it.
    ///
    /// - Parameter limit: nanoseconds after which the tree is not walked any further; nil: no limit.
    public func space(
        within path: TreePath, limit: Int64? = nil, as principal: Principal,
        report: (_ entries: Int) throws -> Void = { _ in }
    ) throws(OperationError) -> SpaceOutcome {
        try operation {
            var outcome = SpaceOutcome()
            try addLive(path, limit.map { now.advanced(byNanoseconds: $0) }, principal, &outcome, report)
            if path == .root {
                let space = store.space
                outcome.history = UInt64(max(0, space.history))
                outcome.deleted = UInt64(max(0, space.deleted))
                return outcome
            }
            outcome.deleted = try store.deletedBytes(within: path)
            outcome.history = try historyBytes(within: path)
            return outcome
        }
    }

    /// The disk usage of the contents that documents at or below the path have kept, each counted once.
    private func historyBytes(within path: TreePath) throws -> UInt64 {
        let (parent, name) = try looking(as: .container) { walk -> (FileID, FileName?) in
            let spot = try walk.spot(path)
            if let node = spot.node, node.isDirectory { return (node.file, nil) }
            return (spot.parent.file, spot.name)
        }
        var contents = try store.keptContents(in: parent, name: name)
        var (waiting, seen) = (name == nil ? try store.directories(in: parent) : [], Set([parent]))
        // Piece by piece: others ask the catalog, too.
        while let directory = waiting.popLast() {
            guard seen.insert(directory).inserted else { continue }
            contents.formUnion(try store.keptContents(in: directory, name: nil))
            waiting += try store.directories(in: directory)
        }
        var bytes: UInt64 = 0
        for content in contents { bytes.addCapped(store.contents.allocated(content)) }
        return bytes
    }

    private func addLive(
        _ path: TreePath, _ end: Timestamp?, _ principal: Principal, _ outcome: inout SpaceOutcome,
        _ report: (Int) throws -> Void
    ) throws {
        var counted: Set<BackingKey> = []
        var entries = 0
        if path != .root {
            let stat = try looking(as: principal) { try $0.spot(path).stat }
            guard let stat else { throw OperationError.missing(path) }
            guard stat.isDirectory else {
                outcome.live = stat.raw.blocks * 512
                return
            }
        }
        var waiting = [path]
        while let next = waiting.popLast() {
            if let end, now > end {
                outcome.isComplete = false
                return
            }
            let found = try? looking(as: principal) { walk -> [(FileName, FileStat)] in
                let directory = try walk.directory(next)
                try walk.require(.read, on: directory, next)
                let descriptor = try descriptor(of: directory)
                return try Backing.list(descriptor.raw).compactMap { entry in
                    if next == .root, entry.name.bytes == Self.stateName { return nil }
                    guard let stat = try? Backing.stat(entry.name.bytes, in: descriptor.raw) else { return nil }
                    guard !isNested(entry.name, stat, in: descriptor) else {
                        if outcome.nested.count < SpaceOutcome.mostNested {
                            outcome.nested.append(next.appending(entry.name))
                        }
                        return nil
                    }
                    return (entry.name, stat)
                }
            }
            for (name, stat) in found ?? [] where stat.key.device == rootKey.device {
                entries += 1
                if stat.isDirectory { waiting.append(next.appending(name)) }
                if stat.links > 1, !stat.isDirectory, !counted.insert(stat.key).inserted { continue }
                outcome.live += stat.raw.blocks * 512
            }
            try report(entries)
        }
    }
}
