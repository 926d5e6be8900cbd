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
    private let store: ContainerState
    private let state: RankedMutex<State>

    /// - Throws: ENODATA if the content is nowhere any more.
    init(_ version: Version, in container: any BrowsableContainer) throws(Errno) {
        content = version.content
        size = version.size
        store = container.state
        var found = try Self.object(version.content, store).map { State(file: $0, isObject: true) }
        if found == nil {
            found = try container.file(holding: version).map { State(file: $0, isObject: false) }
            // It may have been kept since, because the file was about to change.
            if let object = try Self.object(version.content, store) { found = State(file: object, isObject: true) }
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
        guard !isObject, let object = try Self.object(content, store) else { return result }
        // The file may have changed before it was read; from now on the object is what counts.
        state.withLock { $0 = State(file: object, isObject: true) }
        return try Backing.check { pread(object.raw, buffer.baseAddress, count, offset) }
    }

    private static func object(_ content: ContentID, _ store: ContainerState) throws(Errno) -> SharedDescriptor? {
        do throws(Errno) {
            return SharedDescriptor(try store.contents.open(content).rawValue)
        } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }
}
