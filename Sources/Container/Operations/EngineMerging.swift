// Saves that have become conflicts are merged under `stale-writes = "merge"` (DESIGN 6.3).

import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// Joins a save with the version that has lost against it, if their edits do not overlap. The saver waits for it.
struct EngineMerging {
    let ground: EngineGround

    /// Called with no lock held. A conflict that cannot be merged stays one.
    /// - Parameter isNaming: whether the kernel holds the names of the directory until the request at hand is answered.
    func merge(after plan: Plan, isNaming: Bool) {
        for case .version(let saved) in plan.facts {
            guard let loser = saved.loser, saved.beside == .no else { continue }
            do { try merge(saved, loser, isNaming: isNaming) } catch {
                ground.browsing.logger.info("not merged, the conflict stays: \(error)")
            }
        }
    }

    private func merge(_ saved: VersionRow, _ loser: VersionNumber, isNaming: Bool) throws {
        guard let row = ground.engine.known.row(saved.row), let place = try ground.facts.place(row.place),
            let path = ground.recorded.path(of: place.directory)?.appending(place.name),
            let bytes = try merged(saved.number, loser, at: path)
        else { return }
        let told = try ground.changing(as: .container) { change -> Spot? in
            let (spot, entry) = try change.document(path)
            // Further names would part from the document.
            guard entry.stat.links == 1 else { return nil }
            let found = try ground.recorded.adopt(entry)
            defer { ground.recorded.files.letGo(found.file) }
            let new = try NewFile(ground)
            defer { new.end() }
            try new.staged.append(bytes)
            // Two authors have chosen the content that it has now.
            let live = try spot.open(flags: O_RDONLY)
            try new.staged.dress(like: live.raw, keepsSetID: false)
            let stat = try Backing.stat(new.staged.file.raw)
            let content = Content(file: new.file, generation: 0)
            let merged = Merged(
                by: nil, in: new.file, FileLooks.fingerprint(of: new.staged.file.raw, stat, as: content),
                modified: stat.modified, of: loser, and: saved.number)
            try EngineReplacing(ground: ground).put(new, over: entry, found, spot, change, keepsSetID: false) {
                .merge(found.place, merged)
            }
            return spot
        }
        if let told { ground.browsing.passthrough.changed(told.name, in: told.parent, isNaming: isNaming) }
    }

    /// - Returns: nil if the edits overlap, or if it is not known any more from what the two have parted.
    private func merged(_ saved: VersionNumber, _ loser: VersionNumber, at path: TreePath) throws -> [UInt8]? {
        // Not what the saver had started from: of the loser it may be no ancestor, if an earlier merge did not come
        // about.
        guard let base = try ground.facts.lists.commonAncestor(of: saved, and: loser) else {
            ground.browsing.logger.info("not merged, the conflict stays: the common ancestor is not known any more")
            return nil
        }
        let texts = try [saved, base, loser].map { number in
            guard let version = try ground.past.version(number) else { throw Errno.noSuchFileOrDirectory }
            let document = DocumentRecord(path: path, item: version.item, versions: [version])
            let content = try ground.finder.content(of: version, in: document)
            return try ContentText.read(content.descriptor.raw, size: content.size)
        }
        return ThreeWayMerge.merge(MergeInput(mine: texts[0], base: texts[1], other: texts[2]))
    }
}
