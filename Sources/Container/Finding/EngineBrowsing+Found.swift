// What finding asks of a container over the engine.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension EngineBrowsing: FoundContainer {
    var maxFile: UInt64 { versioned.policy.settings.maxFile }

    /// The document of a file that facts tell of; else what the file's identity, size and time say.
    func found(_ spot: Spot, _ node: Node, _ stat: FileStat) throws -> () throws -> FoundDocument {
        let (place, file) = (spot.place, node.file)
        let unrecorded = try unrecorded(spot, node, stat)
        let isLeftOut = versioned.isIgnored(spot.name, in: spot.parent)
        let held = try spot.hold()
        return { [past, recorded] in
            recorded.compare(file, held)
            guard let item = try past.item(at: place), item.file.id == file else {
                // One that was made and is not saved yet has no version.
                let isBegun = try past.lists.name(at: place)?.row.file == file
                return (unrecorded.item, isLeftOut || isBegun ? nil : unrecorded)
            }
            return (item.id, try past.version(item.current))
        }
    }

    private func unrecorded(_ spot: Spot, _ node: Node, _ stat: FileStat) throws -> Version {
        var version = unrecorded(stat)
        version.attributes = try spot.with { file throws(Errno) in try Attributes(held: file) }
        return version
    }

    func unrecorded(_ stat: FileStat) -> Version {
        let file = tree.fileID(stat)
        let derived = DerivedIdentity.item(file, in: state.identity.container)
        return Version(
            id: VersionID(derivedFrom: derived, size: stat.size, modified: stat.modified), item: derived,
            kind: .current, content: ContentID(high: file.number, low: 0), size: stat.size,
            modified: stat.modified, saved: stat.modified, time: HybridTime(wall: stat.modified, logical: 0),
            device: state.identity.device, author: users.owner(stat.raw.user), attributes: Attributes(stat))
    }

    func remembered(_ names: [FileName], in directory: FileID) -> [FileName: RememberedName] {
        recorded.untold(names, in: directory)
    }

    func ignores(_ path: TreePath) -> Bool { versioned.policy.ignores(path) }

    func lastPath(of item: ItemID, _ versions: [Version]) -> TreePath? { try? past.lastPath(of: item) }

    /// The document's file as long as it has the version's bytes: its size and time say so, or the bytes themselves if
    /// the time was set since.
    func liveFile(at path: TreePath, _ version: VersionID) -> SharedDescriptor? {
        let open = try? Finder(self).looking(as: .container) { walk in
            let (spot, node, stat) = try walk.document(path)
            return (try spot.open(flags: O_RDONLY), stat, try found(spot, node, stat))
        }
        guard let (file, stat, found) = open, let current = try? found().current, current.id == version,
            stat.size == current.size, stat.modified == current.modified || holds(file, current)
        else { return nil }
        return file
    }

    private func holds(_ file: SharedDescriptor, _ version: Version) -> Bool {
        guard let number = try? recorded.facts.version(version.id), let row = try? past.lists.version(number)?.row,
            let hash = ContentHash.sha256(of: file.raw, size: version.size)
        else { return false }
        return Fingerprint(hash: hash, size: version.size) == row.fingerprint
    }

    func isKeptBeside(_ version: Version, of document: DocumentRecord) -> Bool {
        document.deletion == nil && Finder(self).isBesideLog(version, document)
    }
}
