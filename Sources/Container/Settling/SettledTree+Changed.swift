// Names that a power cut may have left otherwise than the facts say, or that were changed while nothing was mounted,
// found by the times of directories.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension SettledTree {
    /// The places in directories with a change since a time where the disk has another file than the facts, as far as
    /// facts tell of one of the two. Each directory is looked at, but of files those of changed directories alone.
    func places(changedSince time: Timestamp) throws(Errno) -> Set<PlaceNumber> {
        let log = facts.facts()
        var places: Set<PlaceNumber> = []
        var paths: [FileID: TreePath] = [:]
        for id in [.root] + log.directories {
            // What cannot be looked at must not keep the rest from its users.
            guard try isChanged(id, since: time, log, &paths), let directory = try? directory(id, depth: 0),
                let found = try? differences(in: id, directory, log)
            else { continue }
            places.formUnion(found)
        }
        guard log.failure == nil else { throw .ioError }
        return places
    }

    /// Few directories are: only they are opened.
    private func isChanged(
        _ id: FileID, since time: Timestamp, _ log: StoredFacts, _ paths: inout [FileID: TreePath]
    ) throws(Errno) -> Bool {
        if id == .root { return try Backing.stat(tree.root.raw).modified >= time }
        guard let path = try path(of: id, log, &paths, depth: 0) else { return false }
        do throws(Errno) {
            guard let stat = try Backing.statIfPresent(path.bytes, in: tree.root.raw) else { return false }
            return tree.fileID(stat) == id && stat.modified >= time
        } catch {
            // One above it may be another by now. Whatever it is, it may be reached step by step.
            return error != .notDirectory
        }
    }

    /// Where a directory is by the facts.
    private func path(
        of id: FileID, _ log: StoredFacts, _ known: inout [FileID: TreePath], depth: Int
    ) throws(Errno) -> TreePath? {
        if id == .root { return .root }
        if let path = known[id] { return path }
        guard depth < 4096, let row = log.names(of: id).first, let place = try place(row.place),
            let parent = try path(of: place.directory, log, &known, depth: depth + 1)
        else { return nil }
        let path = parent.appending(place.name)
        known[id] = path
        return path
    }

    private func differences(
        in id: FileID, _ directory: SharedDescriptor, _ log: StoredFacts
    ) throws(Errno) -> Set<PlaceNumber> {
        var places: Set<PlaceNumber> = []
        var known: Set<[UInt8]> = []
        for row in log.names(in: id) {
            guard let place = try place(row.place) else { continue }
            known.insert(place.name.bytes)
            let stat = try Backing.statIfPresent(place.name.bytes, in: directory.raw)
            if stat.map(tree.fileID) != row.file { places.insert(row.place) }
        }
        let flags = O_RDONLY | O_DIRECTORY
        let listed = SharedDescriptor(try Backing.open(path: ".", in: directory.raw, flags: flags))
        for entry in try Backing.list(listed.raw) {
            let name = entry.name
            guard !known.contains(name.bytes),
                !(id == .root && name.bytes == LiveTree.stateName),
                let stat = try Backing.statIfPresent(name.bytes, in: directory.raw)
            else { continue }
            // What no fact tells of is adopted when something happens to it.
            guard log.lastRow(of: tree.fileID(stat)) != nil else { continue }
            do { places.insert(try facts.number(of: Place(directory: id, name: name))) } catch { throw .ioError }
        }
        return places
    }
}
