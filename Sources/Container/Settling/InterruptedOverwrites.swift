// Files whose content was being written over by an operation when the daemon was killed.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Gives such a file its former content back, before anything is settled. What no overwrite leaves is an edit since,
/// and stays: the settling makes it a version.
struct InterruptedOverwrites {
    let tree: SettledTree
    let store: ContainerState

    /// - Parameter files: those that the former mount has marked.
    /// - Returns: those that were being written over.
    func undo(_ files: Set<FileID>) throws(Errno) -> Set<FileID> {
        var overwritten: Set<FileID> = []
        for file in files.sorted() {
            guard let (live, row) = try open(file), let mark = OverwriteMark(of: live.raw) else { continue }
            if let former = try former(mark, live, row) { try putBack(former.object, former.version, live) }
            OverwriteMark.remove(from: live.raw)
            overwritten.insert(file)
        }
        return overwritten
    }

    private func open(_ file: FileID) throws(Errno) -> (SharedDescriptor, NameRow)? {
        for row in tree.facts.facts().names(of: file) where !row.hasNoVersions {
            guard let place = try tree.place(row.place), let directory = try tree.directory(place.directory, depth: 0),
                let stat = try Backing.statIfPresent(place.name.bytes, in: directory.raw), stat.isRegular,
                tree.tree.fileID(stat) == file
            else { continue }
            let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
            return (SharedDescriptor(try Backing.open(place.name.bytes, in: directory.raw, flags: flags)), row)
        }
        return nil
    }

    /// The former content, if the file has pages of that and of a version of the document, and no others.
    private func former(
        _ mark: OverwriteMark, _ live: SharedDescriptor, _ row: NameRow
    ) throws(Errno) -> (object: SharedDescriptor, version: VersionRow)? {
        let (stat, versions) = (try Backing.stat(live.raw), tree.facts.facts().versions(of: row.document))
        guard let change = mark.change, let object = try opened(mark.content),
            let former = versions.last(where: {
                ContentID($0.content) == mark.content && $0.fingerprint.size == change.oldSize
            }),
            stat.size == change.newSize || (change.oldSize...max(change.oldSize, change.newSize)).contains(stat.size)
        else { return nil }
        var mix = ContentMix(old: ContentMix.Part(file: object.raw, size: change.oldSize))
        let part = ContentMix.Part(file: live.raw, size: stat.size)
        if try mix.holds(part) { return (object, former) }
        for version in versions where version.fingerprint.size == change.newSize {
            guard let new = try opened(ContentID(version.content)) else { continue }
            mix.new = ContentMix.Part(file: new.raw, size: change.newSize)
            if try mix.holds(part) { return (object, former) }
        }
        return nil
    }

    /// - Returns: nil if there is no such object.
    private func opened(_ content: ContentID) throws(Errno) -> SharedDescriptor? {
        do throws(Errno) { return SharedDescriptor(try store.contents.open(content).rawValue) } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// The file is never shorter than both contents meanwhile, so that another kill leaves the same situation.
    private func putBack(
        _ object: SharedDescriptor, _ version: VersionRow, _ live: SharedDescriptor
    ) throws(Errno) {
        let size = version.fingerprint.size
        try StagedFile.copy(from: object.raw, to: live.raw, size: size)
        try Backing.check { ftruncate(live.raw, off_t(clamping: size)) }
        let time = version.modified.timespec
        try Backing.check { futimens(live.raw, [time, time]) }
        try Backing.check { fsync(live.raw) }
    }
}
