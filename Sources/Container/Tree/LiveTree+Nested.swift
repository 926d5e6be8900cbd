// Containers within the container: shown as another file system would be, and left alone otherwise.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveTree {
    /// Whether a directory holds a container of its own.
    func isNested(_ name: FileName, _ stat: FileStat, in directory: SharedDescriptor) -> Bool {
        guard stat.isDirectory, stat.key != rootKey, stat.key.device == rootKey.device else { return false }
        return CText.lend(name.bytes) { pointer in
            NestedState.lies(in: FileDescriptor(rawValue: directory.raw), below: pointer)
        }
    }

    /// The directory of the container that a directory lies in, or is, within this one; nil for a directory of this
    /// one's own, and on other file systems.
    func nestedRoot(of directory: Node) -> Node? {
        guard directory.isForeign else { return nil }
        return nodes.chain(directory).lazy.map(\.node).first(where: \.isNested)
    }

    /// That nothing is moved or linked from one container to another: EXDEV, as between file systems.
    func requireSameContainer(_ one: Node, _ other: Node) throws(Errno) {
        guard one.isForeign || other.isForeign, nestedRoot(of: one) !== nestedRoot(of: other) else { return }
        throw .improperLink
    }

    /// How a name that was just found is to be treated.
    func standing(of stat: FileStat, _ name: Node.Name) -> Node.Standing {
        if stat.key.device != rootKey.device { return .otherFileSystem }
        if name.parent.isForeign, nestedRoot(of: name.parent) != nil { return .withinNested }
        // A directory that is known already was looked at when it was found.
        guard stat.isDirectory, nodes.node(stat.key) == nil, let directory = try? descriptor(of: name.parent),
            isNested(name.name, stat, in: directory)
        else { return .own }
        return .nested
    }
}
