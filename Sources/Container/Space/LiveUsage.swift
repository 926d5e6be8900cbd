// How much the live tree takes.

import CLinux
import Glibc
import SystemPackage
import VersionModel

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

/// Adds up what lies in the tree, as far as a caller may look into it.
struct LiveUsage {
    let finder: Finder
    let tree: LiveTree
    let clock: any WallClock

    /// - Parameter limit: nanoseconds after which the tree is not walked any further; nil: no limit.
    func add(
        _ path: TreePath, limit: Int64?, as principal: Principal, to outcome: inout SpaceOutcome,
        report: (_ entries: Int) throws -> Void
    ) throws {
        let end = limit.map { clock.now().advanced(byNanoseconds: $0) }
        var counted: Set<BackingKey> = []
        var entries = 0
        if path != .root {
            let stat = try finder.looking(as: principal) { try $0.spot(path).stat }
            guard let stat else { throw OperationError.missing(path) }
            guard stat.isDirectory else {
                outcome.live = stat.raw.blocks * 512
                return
            }
        }
        var waiting = [path]
        while let next = waiting.popLast() {
            if let end, clock.now() > end {
                outcome.isComplete = false
                return
            }
            let found = (try? list(next, as: principal, nested: &outcome.nested)) ?? []
            for (name, stat) in found where stat.key.device == tree.rootKey.device {
                entries += 1
                if stat.isDirectory { waiting.append(next.appending(name)) }
                if stat.links > 1, !stat.isDirectory, !counted.insert(stat.key).inserted { continue }
                outcome.live += stat.raw.blocks * 512
            }
            try report(entries)
        }
    }

    private func list(
        _ path: TreePath, as principal: Principal, nested: inout [TreePath]
    ) throws -> [(FileName, FileStat)] {
        try finder.looking(as: principal) { walk -> [(FileName, FileStat)] in
            let directory = try walk.directory(path)
            try walk.require(.read, on: directory, path)
            let descriptor = try tree.descriptor(of: directory)
            return try Backing.list(descriptor.raw).compactMap { entry in
                if path == .root, entry.name.bytes == LiveTree.stateName { return nil }
                guard let stat = try? Backing.stat(entry.name.bytes, in: descriptor.raw) else { return nil }
                guard !tree.isNested(entry.name, stat, in: descriptor) else {
                    if nested.count < SpaceOutcome.mostNested { nested.append(path.appending(entry.name)) }
                    return nil
                }
                return (entry.name, stat)
            }
        }
    }
}
