// Renames over a file that a kill interrupted between their two system calls.

import CLinux
import Glibc
import Logging
import SystemPackage
import VersionModel

extension Recovery {
    /// The largest difference between the times of two files that one system call exchanged, in nanoseconds.
    private static let leeway: Int64 = 10_000_000

    /// A rename over a file may be two calls: the files exchange names, then the old name of the new file is removed.
    /// In between, the displaced file, already an object, has that name. The next steps of recovery take all names for
    /// users' names, and a write to a live file must not change an object.
    func finishRenames() throws(Errno) {
        // A backup of the whole container may have a link to each object.
        let horizon = lastChange?.advanced(byNanoseconds: -VersionStore.dirtyNanoseconds)
        var shared: [ContentID] = []
        try contents.forEach { id in
            let (directory, name) = contents.place(of: id)
            guard let status = try? System.extendedStatus(name, in: directory), status.links > 1 else { return }
            if horizon.map({ status.change >= $0 }) ?? true { shared.append(id) }
        }
        for id in shared {
            do throws(Errno) { try finishRename(id) } catch {
                logger.error("a rename was not finished after a crash: \(error)", metadata: ["object": "\(id)"])
            }
        }
    }

    private func finishRename(_ id: ContentID) throws(Errno) {
        let object = contents.place(of: id)
        let status = try System.extendedStatus(object.name, in: object.directory)
        let labels = try contents.labels(of: id)
        guard let label = labels.first, let name = label.path.name, let parent = label.path.parent,
            let live = tree.status(label.path), live.isRegular, !isSame(live, status)
        // Still under its own name: the rename has not happened (``CrashRecovery``).
        else { return }
        if abs(live.change.since(status.change)) < Self.leeway,
            let left = try removeOtherName(of: status, than: name, in: parent)
        {
            logger.notice("finished a rename after a crash", metadata: ["file": "\(parent.appending(left))"])
            return
        }
        let file = try System.open(object.name, in: object.directory, O_RDONLY | O_NOFOLLOW)
        defer { System.close(file) }
        _ = try contents.keep(copying: file, as: id, label, also: Array(labels.dropFirst()), isDurable: true)
    }

    /// - Returns: the removed name.
    private func removeOtherName(
        of object: linux_stat, than name: FileName, in parent: TreePath
    ) throws(Errno) -> FileName? {
        let directory = try System.openDirectory(parent.names, in: tree.root)
        defer { System.close(directory) }
        for other in try System.names(in: directory) where other != name {
            guard let found = try? System.extendedStatus(other.cName, in: directory), isSame(found, object)
            else { continue }
            try System.unlink(other.cName, in: directory)
            return other
        }
        return nil
    }

    private func isSame(_ one: linux_stat, _ other: linux_stat) -> Bool {
        one.inode == other.inode && one.device == other.device
    }
}
