// The only writer of contents: no other code puts any among the objects, takes one away, cuts one, or labels one.

import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Keeps contents among the objects, with labels that say of which versions they are. Its callers say which content is
/// kept, and when.
final class Custodian: Sendable {
    let state: ContainerState
    private let former: VersionStore?
    let nodes: NodeTable
    let logger: Logger
    /// Held during the removal of a content without versions, and during its cut to the remaining versions.
    private let removal = RankedMutex((), .contents)

    /// - Parameter former: the catalog of format 1; nil for a container that has facts.
    init(_ state: ContainerState, former: VersionStore? = nil, nodes: NodeTable, logger: Logger) {
        (self.state, self.former, self.nodes, self.logger) = (state, former, nodes, logger)
    }

    func catalog() throws(StoreError) -> VersionStore {
        guard let former else { throw .catalog(code: 1, "the container has no catalog of format 1") }
        return former
    }

    // MARK: Keeping

    /// Keeps a copy of an open file, which shares its blocks where the file system can.
    /// - Parameters:
    ///   - isDurable: whether the copy has to be on the disk before the file changes.
    ///   - limit: the length of the content; later bytes were appended since.
    func keep(
        copying file: Int32, as content: ContentID, _ label: ContentStore.Label, also: [ContentStore.Label] = [],
        isDurable: Bool = false, upTo limit: UInt64 = .max
    ) throws(Errno) {
        _ = try state.contents.keep(
            copying: FileDescriptor(rawValue: file), as: content, label, also: also, isDurable: isDurable, upTo: limit)
    }

    /// Keeps a file itself. It has its name until the caller takes that away.
    func keep(
        linking name: FileName, in directory: SharedDescriptor, as content: ContentID, _ label: ContentStore.Label,
        also: [ContentStore.Label] = []
    ) throws(Errno) {
        try state.contents.keep(
            linking: name, in: FileDescriptor(rawValue: directory.raw), as: content, label, also: also)
    }

    /// Keeps a file that was made for that.
    func keep(
        moving name: FileName, in directory: SharedDescriptor, as content: ContentID, _ label: ContentStore.Label
    ) throws(Errno) {
        try state.contents.keep(moving: name, in: FileDescriptor(rawValue: directory.raw), as: content, label)
    }

    /// Makes the file of a deleted entry a kept content. Its node is found there from now on.
    func keep(_ deletion: DeletionID, as content: ContentID, _ label: ContentStore.Label) throws(Errno) {
        try state.deletedArea.moveToContents(deletion, as: content, label)
        nodes.relocate(deletion, to: content)
    }

    // MARK: Removing

    func remove(_ content: ContentID) throws(Errno) { try state.contents.remove(content) }

    /// The same where a failure does no harm: the content takes room, and no version has it.
    func drop(_ content: ContentID) { try? state.contents.remove(content) }

    /// Removes a content unless versions name it that are not among `gone`. One that stays is labeled as theirs.
    /// - Returns: the freed bytes.
    func remove(_ content: ContentID, unlessNamedBeside gone: Set<VersionID>) throws -> UInt64 {
        try removal.withLock { _ in
            let others = try catalog().versions(sharing: content).filter { !gone.contains($0.id) }
            guard others.isEmpty else {
                relabel(content, for: others)
                return 0
            }
            let place = state.contents.place(of: content)
            guard let stat = try? Backing.stat(path: place.name, in: place.directory.rawValue) else { return 0 }
            // Another thread may be removing it at the same time.
            return (try? state.contents.remove(content)) == nil ? 0 : stat.size
        }
    }

    // MARK: Cutting

    /// The length that versions need of an object; nil if they need all of it, if no version names it, or if the
    /// content is in a file with a name outside of the objects.
    func neededSize(of content: ContentID, without gone: Set<VersionID> = []) throws -> UInt64? {
        try remainder(of: content, without: gone)?.size
    }

    private func remainder(
        of content: ContentID, without gone: Set<VersionID> = []
    ) throws -> (size: UInt64, length: UInt64)? {
        let place = state.contents.place(of: content)
        guard let stat = try? Backing.stat(path: place.name, in: place.directory.rawValue),
            let longest = try catalog().versions(sharing: content).filter({ !gone.contains($0.id) }).map(\.size).max(),
            stat.size > longest
        else { return nil }
        return (longest, stat.size)
    }

    /// A copy of the first bytes of a content, to be put in its place or dropped.
    func beginning(of content: ContentID, size: UInt64) throws(Errno) -> ContentStore.Beginning {
        try state.contents.beginning(of: content, size: size)
    }

    func drop(_ beginnings: [ContentStore.Beginning]) { beginnings.forEach { state.contents.drop($0) } }

    /// Only the beginning of a content is needed any more.
    func cut(_ content: ContentID, to size: UInt64, _ labels: [ContentStore.Label]) throws(Errno) {
        try state.contents.put(try state.contents.beginning(of: content, size: size), labels)
    }

    /// Puts beginnings in the places of their contents.
    /// - Returns: the bytes that were cut off.
    func put(_ beginnings: [ContentStore.Beginning]) throws -> UInt64 {
        var (bytes, rest) = (UInt64(0), beginnings)
        do {
            while let beginning = rest.popLast() { bytes += try removal.withLock { _ in try put(beginning) } }
        } catch {
            drop(rest)
            throw error
        }
        return bytes
    }

    /// Called with ``removal`` held. A thread that has changed the content since the copy handles its own change.
    private func put(_ beginning: ContentStore.Beginning) throws -> UInt64 {
        guard let (size, length) = try remainder(of: beginning.content), size == beginning.size else {
            state.contents.drop(beginning)
            return 0
        }
        try state.contents.put(beginning, try allLabels(of: beginning.content))
        return length - size
    }
}
