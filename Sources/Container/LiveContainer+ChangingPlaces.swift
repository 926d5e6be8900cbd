// The system calls of a save by rename: one, or two that do not wait for the disk.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Renames a file over another that has its second name among the objects.
    ///
    /// Where renaming over a file begins to write the one that comes (ext4: 10 ms for 100 MiB, half of a small save),
    /// the two change places instead, and the file that is then under the old name goes. At no moment is the name
    /// without a file. The writing is begun a moment later, by a thread that no caller waits for. A kill in between
    /// leaves the old file under both names: the next opening removes the second (`Recovery.finishRenames`), which it
    /// looks for beside the first. So this is for renames within a directory.
    ///
    /// - Parameter marked: the file that comes; what it holds may arrive after its name does, and only where its mark
    ///   tells that from a whole save.
    func renameOver(_ move: Move, _ marked: Marked?, isLinked: Bool) throws(Errno) {
        guard move.flags == 0, isLinked, let marked, marked.isTelling, store.contents.renamingOverWrites,
            move.source.parent === move.newParent
        else {
            return try Backing.rename(move)
        }
        let (old, directory) = (move.source.name.bytes, move.source.directory.raw)
        do throws(Errno) {
            try exchange(move)
        } catch { return try Backing.rename(move) }
        do throws(Errno) {
            try Backing.unlink(old, in: directory)
        } catch {
            // As in a directory where only owners may remove names.
            try exchange(move)
            return try Backing.rename(move)
        }
        store.contents.hasten(FileDescriptor(rawValue: marked.file.raw), number: marked.stat.key.inode)
    }

    private func exchange(_ move: Move) throws(Errno) {
        try Backing.rename(
            move.source.name.bytes, in: move.source.directory.raw, to: move.newName.bytes,
            in: move.newDirectory.raw, flags: linux_RENAME_EXCHANGE)
    }
}
