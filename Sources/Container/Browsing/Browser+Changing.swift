// The changes that are allowed under `.versions`: losers are chosen, deleted things come back. The rest is EROFS; above
// all, nothing is removed, so that no cleanup settles a conflict or empties anything.

import CLinux
import SystemPackage
import VersionModel

extension Browser {
    /// Renaming a file of `conflicts` onto its document chooses it; renaming an entry of `.deleted` into a live
    /// directory undeletes it. Either node may be one of the live tree.
    /// - Throws: EROFS for every other rename, EEXIST if an undeleted entry would replace something.
    public func rename(
        _ caller: Caller, parent: UInt64, name: [UInt8], newParent: UInt64, newName: [UInt8], flags: UInt32
    ) throws(Errno) {
        guard Self.owns(parent), !Self.owns(newParent), flags & ~linux_RENAME_NOREPLACE == 0 else {
            throw .readOnlyFileSystem
        }
        let parent = try node(parent)
        let target = try tree.node(newParent)
        let newName = try tree.name(newName, in: target, forChange: true)
        switch try subject(name, of: parent) {
        case .version(let place, .conflicts, let id):
            guard place == Place(directory: target.file, name: newName) else { throw .readOnlyFileSystem }
            if flags & linux_RENAME_NOREPLACE != 0 { throw .fileExists }
            try container.choose(id, at: Node.Name(parent: target, name: newName), container.requester(caller))
        case .deletion(let id, _):
            guard !target.isForeign else { throw .improperLink }
            defer { deletionListings.clear() }
            try container.bringBack(id, to: Node.Name(parent: target, name: newName), container.requester(caller))
        default: throw .readOnlyFileSystem
        }
    }

    private func subject(_ name: [UInt8], of parent: BrowseNode) throws(Errno) -> BrowseSubject {
        guard let name = FileName(bytes: name), let subject = try child(name, of: parent) else {
            throw .noSuchFileOrDirectory
        }
        return subject
    }
}
