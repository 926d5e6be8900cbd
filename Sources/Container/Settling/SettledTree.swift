// The live tree as settling looks at it, before any request comes.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Finds places by the facts of their directories. What it finds stays open until all is settled.
final class SettledTree: SettledDisk {
    let tree: LiveTree
    let facts: FactStore
    private let found: FilesInReach
    /// Directories that are nowhere.
    private let gone: Set<FileID>
    /// Where copies are made of files that programs still write to; nil if none are.
    private let state: ContainerState?

    init(
        _ tree: LiveTree, facts: FactStore, found: FilesInReach, gone: Set<FileID> = [],
        copyingTo state: ContainerState? = nil
    ) {
        (self.tree, self.facts, self.found, self.gone) = (tree, facts, found, gone)
        self.state = state
    }

    func look(at number: PlaceNumber) throws(Errno) -> PlaceFound {
        guard let place = try place(number), let directory = try directory(place.directory, depth: 0) else {
            return try place(number).map { gone.contains($0.directory) } ?? false ? .nothing : .unknown
        }
        guard let stat = try Backing.statIfPresent(place.name.bytes, in: directory.raw) else { return .nothing }
        guard stat.key.device == tree.rootKey.device, !tree.isNested(place.name, stat, in: directory) else {
            return .unknown
        }
        let file = tree.fileID(stat)
        let descriptor = try Backing.hold(place.name.bytes, in: directory.raw, stat.key)
        found.hold(file, descriptor)
        return stat.isRegular ? .file(file) : .other(file)
    }

    /// A directory by the names that facts tell of, or as it was found at a place.
    func directory(_ id: FileID, depth: Int) throws(Errno) -> SharedDescriptor? {
        if id == .root { return tree.root }
        if let known = found.inReach(id) { return known }
        guard depth < 4096 else { return nil }
        let log = facts.facts()
        let names = log.names(of: id)
        if log.failure != nil { throw .ioError }
        for row in names {
            guard let place = try place(row.place), let parent = try directory(place.directory, depth: depth + 1),
                let stat = try Backing.statIfPresent(place.name.bytes, in: parent.raw), stat.isDirectory,
                tree.fileID(stat) == id
            else { continue }
            let descriptor = try Backing.hold(place.name.bytes, in: parent.raw, stat.key)
            found.hold(id, descriptor)
            return descriptor
        }
        return nil
    }

    func place(_ number: PlaceNumber) throws(Errno) -> Place? {
        do { return try facts.place(number) } catch { throw .ioError }
    }

    // MARK: Files

    func status(of file: FileID) throws(Errno) -> FileStat? { try found.status(of: file) }
    func open(_ file: FileID) throws(Errno) -> SharedDescriptor { try found.open(file) }
    func forget(_ file: FileID) {}

    func awaitsCapture(_ file: FileID) -> Bool {
        facts.facts().names(of: file).contains { row in
            guard let place = try? place(row.place), let directory = try? directory(place.directory, depth: 0) else {
                return false
            }
            return DatabaseRule.isAtWork(place.name, in: directory)
        }
    }

    // MARK: Programs from before the mount

    /// Whether a program may still write to a file below the mount. A daemon without root's rights does not see all
    /// processes, and at a mount none of its own has the file open.
    func isStillWritten(_ file: FileID, _ opened: SharedDescriptor, _ key: BackingKey) -> Bool {
        guard geteuid() != 0 || tree.survivors.mayInclude(file, key) else { return false }
        return WritableMappings.exist(on: opened.raw)
    }

    func freeze(_ file: FileID) throws(Errno) -> SharedDescriptor? {
        guard let state, let stat = try status(of: file) else { return nil }
        let opened = try open(file)
        guard isStillWritten(file, opened, stat.key) else { return nil }
        do throws(Errno) {
            let copy = try StagedFile(in: state.directory)
            try copy.fill(from: OpenContent(descriptor: opened, size: stat.size))
            // The record of a version has what a file cannot be given.
            try? copy.dress(like: opened.raw)
            let time = stat.modified.timespec
            try Backing.check { futimens(copy.file.raw, [time, time]) }
            found.show(copy.file, insteadOf: file)
            return opened
        } catch {
            // Then what it overwrites is marked as lost.
            guard error.isFull else { throw error }
            return nil
        }
    }
}
