// New content for a file in place, as one of several names needs it: all of it or nothing.

import CLinux
import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Gives a file the content of a staged one and keeps the old content, whatever its size. There is room for all of
    /// it before the first byte is changed. ``OverwriteMark`` tells recovery of a crash meanwhile.
    ///
    /// - Returns: the attributes of the file with the new content.
    func overwrite(
        _ state: inout Document.State, _ spot: Spot, _ node: Node, from staged: StagedFile, _ keepsSetID: Bool
    ) throws -> FileStat {
        let live = try spot.open(flags: O_RDWR)
        try keepCopy(&state, of: node, from: live.raw, isDurable: true, isNeverGivenUp: true)
        let before = try Backing.stat(live.raw)
        let size = try Backing.stat(staged.file.raw).size
        let kept = state.current.flatMap { store.contents.contains($0.content) ? $0.content : nil }
        do {
            try makeRoom(for: size, in: live.raw)
            if let kept {
                let hash = size <= Self.hashedAtOnce ? ContentHash.sha256(of: staged.file.raw, size: size) : nil
                let change = OverwriteMark.Change(oldSize: before.size, newSize: size, newHash: hash)
                OverwriteMark(content: kept, change: change).set(on: live.raw)
            }
            // The mark and the kept copy are there before any byte of the old content goes.
            try store.contents.synchronizing { () throws(Errno) in _ = try Backing.check { fsync(live.raw) } }
        } catch {
            endUnchanged(&state, node, live, as: before)
            throw error
        }
        do {
            // The capability goes with the first change of the content.
            if !keepsSetID { try SetIDRule.drop(on: live.raw) }
            try fill(live.raw, from: staged.file.raw, size: size)
            try store.contents.synchronizing { () throws(Errno) in _ = try Backing.check { fsync(live.raw) } }
        } catch {
            undo(&state, live, as: before, kept, staged)
            throw error
        }
        OverwriteMark.remove(from: live.raw)
        return try Backing.stat(live.raw)
    }

    /// Has the file system set blocks aside, where it writes in place.
    private func makeRoom(for size: UInt64, in file: Int32) throws(Errno) {
        guard size > 0, !store.contents.canReflink else { return }
        do throws(Errno) {
            _ = try Backing.check { linux_fallocate(file, linux_FALLOC_FL_KEEP_SIZE, 0, off_t(clamping: size)) }
        } catch {
            switch error {
            // It has no such call: there is no telling beforehand.
            case .notSupported, .noFunction: return
            default: throw error
            }
        }
    }

    /// The end is set last: no block that was set aside is given back before it is written.
    private func fill(_ file: Int32, from source: Int32, size: UInt64) throws(Errno) {
        if !store.contents.canReflink || linux_clone_file(file, source) != 0 {
            try StagedFile.copy(from: source, to: file, size: size)
        }
        try Backing.check { ftruncate(file, off_t(clamping: size)) }
    }

    /// The file has its old content again; what another program has appended meanwhile stays behind it. If not even
    /// that can be done, the mark stays, and the next save makes a version of the present content.
    private func undo(
        _ state: inout Document.State, _ live: SharedDescriptor, as before: FileStat, _ kept: ContentID?,
        _ staged: StagedFile
    ) {
        do {
            guard let kept else { throw Errno.noSuchFileOrDirectory }
            let object = SharedDescriptor(try store.contents.open(kept).rawValue)
            let size = try Backing.stat(staged.file.raw).size
            let mix = ContentMix(
                old: ContentMix.Part(file: object.raw, size: before.size),
                new: ContentMix.Part(file: staged.file.raw, size: size))
            let now = try Backing.stat(live.raw)
            guard try mix.holds(ContentMix.Part(file: live.raw, size: now.size), from: before.size) else {
                try StagedFile.copy(from: object.raw, to: live.raw, size: before.size)
                OverwriteMark.remove(from: live.raw)
                state.stamp = nil
                return
            }
            try fill(live.raw, from: object.raw, size: before.size)
            try Backing.check { fsync(live.raw) }
        } catch {
            state.stamp = nil
            logger.error("a file could not be given its content back: \(error)", metadata: ["item": "\(state.item)"])
            return
        }
        OverwriteMark.remove(from: live.raw)
        giveBack(&state, live, as: before)
    }

    /// No byte of the file has been changed. Blocks that were set aside behind its end go, unless a program has it open
    /// or has appended to it: its end may not be where it was.
    func endUnchanged(
        _ state: inout Document.State, _ node: Node, _ live: SharedDescriptor, as before: FileStat
    ) {
        OverwriteMark.remove(from: live.raw)
        guard !node.hasWriters, let now = try? Backing.stat(live.raw), now.size == before.size else { return }
        giveBack(&state, live, as: before)
    }

    /// The file is as it was, with its times.
    private func giveBack(_ state: inout Document.State, _ live: SharedDescriptor, as before: FileStat) {
        _ = ftruncate(live.raw, off_t(clamping: before.size))
        _ = futimens(live.raw, [before.raw.accessed, before.raw.modified])
        guard let stat = try? Backing.stat(live.raw), stat.modified == before.modified else { return }
        if state.stamp?.file == stat.key { state.stamp = Stamp(stat) }
    }
}
