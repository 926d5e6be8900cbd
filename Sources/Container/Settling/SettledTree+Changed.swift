// Names that a power cut may have left otherwise than the facts say, found by the times of directories.

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
        for id in [.root] + log.directories {
            guard let directory = try directory(id, depth: 0), try Backing.stat(directory.raw).modified >= time else {
                continue
            }
            places.formUnion(try differences(in: id, directory, log))
        }
        guard log.failure == nil else { throw .ioError }
        return places
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
