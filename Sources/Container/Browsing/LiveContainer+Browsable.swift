// What the tree under `.versions` asks of a live container.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer: BrowsableContainer {
    var history: any ContainerHistory { store }
    var passthrough: Passthrough { serving.passthrough }
    func requester(_ caller: Caller) -> Requester { callers.requester(caller) }

    func content(of deletion: DeletionID) -> DeletedContent {
        versionOfNote(deletion).map { .version($0) } ?? .file(place(of: deletion))
    }

    func bringBack(_ deletion: DeletionID, to name: Node.Name, _ requester: Requester) throws(Errno) {
        do throws(OperationError) { try undelete(deletion, to: name, requester) } catch { throw error.asErrno }
    }

    // MARK: Contents

    /// The live file or deleted entry of an item whose current version names the content.
    func file(holding version: Version) throws(Errno) -> SharedDescriptor? {
        let sharing = try store(throwing: .ioError) { () throws(StoreError) in
            try store.versions(sharing: version.content)
        }
        for holder in sharing where holder.kind == .current && holder.size >= version.size {
            let item = try store(throwing: .ioError) { () throws(StoreError) in try store.item(holder.item) }
            guard let item else { continue }
            let file: SharedDescriptor? =
                if let live = try live(item) { live } else { try deleted(item) }
            if let file, let stat = try? Backing.stat(file.raw), stat.isRegular, stat.size >= version.size
            {
                return file
            }
        }
        return nil
    }

    private func live(_ item: Item) throws(Errno) -> SharedDescriptor? {
        for place in item.places {
            let path = try store(throwing: .ioError) { () throws(StoreError) in
                try store.path(of: place.directory)
            }
            guard let path else { continue }
            let file = names.reading { () throws(Never) -> SharedDescriptor? in
                guard let directory = try? walk(path), let stat = try? Backing.stat(directory.raw),
                    fileID(stat) == place.directory,
                    let file = try? Backing.open(
                        place.name.bytes, in: directory.raw, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
                else { return nil }
                return SharedDescriptor(file)
            }
            if let file { return file }
        }
        return nil
    }

    private func deleted(_ item: Item) throws(Errno) -> SharedDescriptor? {
        guard item.places.isEmpty else { return nil }
        let deletions = try store(throwing: .ioError) { () throws(StoreError) in
            try store.deletions(of: item.id)
        }
        guard let deletion = deletions.first(where: { $0.type == .file }) else { return nil }
        return (try? store.deletedArea.open(deletion.id)).map { SharedDescriptor($0.rawValue) }
    }

    /// A directory by its path, following no symlink on the way. Called with the name lock held.
    private func walk(_ path: TreePath) throws(Errno) -> SharedDescriptor {
        var directory = root
        for name in path.names {
            directory = SharedDescriptor(
                try CText.lend(name.bytes) { pointer throws(Errno) in
                    try Backing.check { linuxOpenDirectory(directory.raw, pointer) }
                })
        }
        return directory
    }
}

extension OperationError {
    /// The errno for a caller that used a system call.
    var asErrno: Errno {
        if let errno { return errno }
        return switch kind {
        case .notFound, .contentMissing, .nothingToDo: .noSuchFileOrDirectory
        case .denied: .permissionDenied
        case .exists: .fileExists
        case .busy: .resourceBusy
        case .ambiguous, .invalid: .invalidArgument
        case .cancelled: .interrupted
        case .system: .ioError
        }
    }
}
