// Files with an interrupted overwrite in place: the remains of the crash are removed, a later edit stays.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension CrashRecovery {
    /// The content of a marked file.
    private enum Remains {
        /// Pages of the old content and of the new one.
        case mixed
        /// Content that no overwrite leaves: the file was edited between the crash and this mount.
        case edited
        case unknown
    }

    /// Restores the old content of a file that was being overwritten in place at the crash. This check comes first,
    /// because the file's size and time may be the old ones.
    ///
    /// - Returns: the step as a word; nil if none was needed.
    func undoOverwriting(_ item: Item, _ current: Version, _ live: Live) throws -> String? {
        guard let mark = OverwriteMark(of: live.file.raw) else { return nil }
        // A mark of another than the current content is from a finished overwrite. Without a complete copy nothing had
        // been changed.
        guard mark.content == current.content, store.isWhole(current) else {
            OverwriteMark.remove(from: live.file.raw)
            return nil
        }
        let remains = try remains(of: mark, item, current, live)
        guard remains != .edited else {
            adopt(nil, item, current, live)
            OverwriteMark.remove(from: live.file.raw)
            return "edited after the crash"
        }
        let file = SharedDescriptor(
            try Backing.open(live.place.name.bytes, in: live.directory.raw, flags: O_RDWR | O_NOFOLLOW))
        guard try Backing.stat(file.raw).key == live.stat.key else { return nil }
        // It may still be an edit, so content that cannot be made again is kept.
        let torn = remains == .unknown ? try kept(item, current, live, mayLink: false) : nil
        try putBack(current, into: file)
        OverwriteMark.remove(from: file.raw)
        let stat = try Backing.stat(file.raw)
        let rows: [VersionStore.Mutation] = torn.map { [.version($0)] } ?? []
        store.commit(rows + [.item(item.now(current, stat, container.fileID(stat)))])
        return "not overwritten"
    }

    private func remains(
        of mark: OverwriteMark, _ item: Item, _ current: Version, _ live: Live
    ) throws -> Remains {
        let old = SharedDescriptor(try store.contents.open(current.content).rawValue)
        let file = ContentMix.Part(file: live.file.raw, size: live.stat.size)
        var mix = ContentMix(old: ContentMix.Part(file: old.raw, size: current.size))
        guard let change = mark.change else { return try mix.holds(file) ? .mixed : .unknown }
        let isPossible =
            file.size >= change.oldSize && file.size <= max(change.oldSize, change.newSize)
            || file.size == change.newSize
        guard isPossible else { return .edited }
        if try mix.holds(file) { return .mixed }
        // Most of the new content is that of an older version.
        guard let hash = change.newHash,
            let version = try store.versions(of: item.id).first(where: {
                $0.size == change.newSize && $0.hash == hash && store.isWhole($0)
            })
        else { return .unknown }
        let new = SharedDescriptor(try store.contents.open(version.content).rawValue)
        mix.new = ContentMix.Part(file: new.raw, size: version.size)
        return try mix.holds(file) ? .mixed : .edited
    }

    /// The file is never shorter than both contents meanwhile, so that another crash here leaves the same situation.
    private func putBack(_ version: Version, into file: SharedDescriptor) throws(Errno) {
        let content = SharedDescriptor(try store.contents.open(version.content).rawValue)
        if !store.contents.canReflink || linux_clone_file(file.raw, content.raw) != 0 {
            try StagedFile.copy(from: content.raw, to: file.raw, size: version.size)
        }
        try Backing.check { ftruncate(file.raw, off_t(clamping: version.size)) }
        let time = version.modified.timespec
        if version.modified.nanoseconds >= 0 { try Backing.check { futimens(file.raw, [time, time]) } }
        try Backing.check { fsync(file.raw) }
    }
}
