// The bytes of any version, wherever they are: an object, the live file of an item, a deleted entry.

import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// A version's content, open for reading: the first ``size`` bytes of a file that later versions may have appended to.
final class VersionContent: Sendable {
    private struct State {
        var file: SharedDescriptor
        /// The file is an object, which never changes. Any other may, but only after its content was kept as an object.
        var isObject: Bool
    }

    let content: ContentID
    let size: UInt64
    private let container: LiveContainer
    private let state: RankedMutex<State>

    /// - Throws: ENODATA if the content is nowhere any more.
    init(_ version: Version, in container: LiveContainer) throws(Errno) {
        content = version.content
        size = version.size
        self.container = container
        var found = try Self.object(version.content, container).map { State(file: $0, isObject: true) }
        if found == nil {
            found = try Self.other(version, container).map { State(file: $0, isObject: false) }
            // It may have been kept since, because the file was about to change.
            if let object = try Self.object(version.content, container) { found = State(file: object, isObject: true) }
        }
        guard let found else { throw .noData }
        state = RankedMutex(found)
    }

    /// The file as it is now, if the whole of it is the version and will stay so.
    var wholeFile: SharedDescriptor? {
        let (file, isObject) = state.withLock { ($0.file, $0.isObject) }
        guard isObject, let stat = try? Backing.stat(file.raw), stat.isRegular, stat.size == size else { return nil }
        return file
    }

    /// The file that has the bytes.
    var descriptor: SharedDescriptor { state.withLock(\.file) }

    func read(into buffer: UnsafeMutableRawBufferPointer, offset: off_t) throws(Errno) -> Int {
        guard let start = UInt64(exactly: offset) else { throw .invalidArgument }
        guard start < size else { return 0 }
        let count = min(buffer.count, Int(clamping: size - start))
        let (file, isObject) = state.withLock { ($0.file, $0.isObject) }
        let result = try Backing.check { pread(file.raw, buffer.baseAddress, count, offset) }
        guard !isObject, let object = try Self.object(content, container) else { return result }
        // The file may have changed before it was read; from now on the object is what counts.
        state.withLock { $0 = State(file: object, isObject: true) }
        return try Backing.check { pread(object.raw, buffer.baseAddress, count, offset) }
    }

    private static func object(_ content: ContentID, _ container: LiveContainer) throws(Errno) -> SharedDescriptor? {
        do throws(Errno) {
            return SharedDescriptor(try container.store.contents.open(content).rawValue)
        } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// The live file or deleted entry of an item whose current version names the content.
    private static func other(_ version: Version, _ container: LiveContainer) throws(Errno) -> SharedDescriptor? {
        let store = container.store
        let sharing = try container.store(throwing: .ioError) { () throws(StoreError) in
            try store.versions(sharing: version.content)
        }
        for holder in sharing where holder.kind == .current && holder.size >= version.size {
            let item = try container.store(throwing: .ioError) { () throws(StoreError) in try store.item(holder.item) }
            guard let item else { continue }
            let file: SharedDescriptor? =
                if let live = try live(item, container) { live } else { try deleted(item, container) }
            if let file, let stat = try? Backing.stat(file.raw), stat.isRegular, stat.size >= version.size
            {
                return file
            }
        }
        return nil
    }

    private static func live(_ item: Item, _ container: LiveContainer) throws(Errno) -> SharedDescriptor? {
        for place in item.places {
            let path = try container.store(throwing: .ioError) { () throws(StoreError) in
                try container.store.path(of: place.directory)
            }
            guard let path else { continue }
            let file = container.names.reading { () throws(Never) -> SharedDescriptor? in
                guard let directory = try? container.walk(path), let stat = try? Backing.stat(directory.raw),
                    container.fileID(stat) == place.directory,
                    let file = try? Backing.open(
                        place.name.bytes, in: directory.raw, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
                else { return nil }
                return SharedDescriptor(file)
            }
            if let file { return file }
        }
        return nil
    }

    private static func deleted(_ item: Item, _ container: LiveContainer) throws(Errno) -> SharedDescriptor? {
        guard item.places.isEmpty else { return nil }
        let deletions = try container.store(throwing: .ioError) { () throws(StoreError) in
            try container.store.deletions(of: item.id)
        }
        guard let deletion = deletions.first(where: { $0.type == .file }) else { return nil }
        return (try? container.store.deletedArea.open(deletion.id)).map { SharedDescriptor($0.rawValue) }
    }
}

extension LiveContainer {
    /// A directory by its path, following no symlink on the way. Called with the name lock held.
    fileprivate func walk(_ path: TreePath) throws(Errno) -> SharedDescriptor {
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
