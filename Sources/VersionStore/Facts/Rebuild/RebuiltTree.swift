// The directories of a container whose catalog was lost: those that are there, and those of which labels alone tell.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel

/// Finds the places that labels tell of. A directory has a row before anything in it: so a path is known by rows.
struct RebuiltTree {
    /// A directory, and where it is or was.
    struct Found {
        var directory: FileID
        var place: Place
        /// Whether the tree has it.
        var isThere: Bool
    }

    private let tree: LiveTree
    private let device: UInt64
    private var places: [FileID: Place] = [:]
    private var gone: [TreePath: FileID] = [:]
    private var told: Set<FileID> = [.root]
    /// The directories of the places that were asked for, those above them first.
    private(set) var found: [Found] = []

    /// - Parameter wanted: directories that labels name. If the tree has them all, no more is looked at.
    init(_ tree: LiveTree, wanted: Set<FileID>) {
        self.tree = tree
        device = (try? System.extendedStatus("", in: tree.root))?.device ?? 0
        var wanted = wanted.subtracting([.root])
        var left: [(path: TreePath, id: FileID)] = [(.root, .root)]
        // By levels: few directories are deep.
        while !wanted.isEmpty, !left.isEmpty {
            var next: [(path: TreePath, id: FileID)] = []
            for (path, id) in left where !wanted.isEmpty {
                for child in directories(in: path) {
                    places[child.id] = Place(directory: id, name: child.name)
                    wanted.remove(child.id)
                    next.append((path.appending(child.name), child.id))
                }
            }
            left = next
        }
    }

    private func directories(in path: TreePath) -> [(name: FileName, id: FileID)] {
        guard let directory = try? System.openDirectory(path.names, in: tree.root, O_RDONLY) else { return [] }
        defer { System.close(directory) }
        return ((try? System.entries(in: directory)) ?? []).compactMap { name, type in
            guard [UInt8(DT_DIR), UInt8(DT_UNKNOWN)].contains(type),
                !(path.bytes.isEmpty && name.bytes == Array(StateDirectory.name.utf8)),
                let status = try? System.extendedStatus(name.cName, in: directory), status.isDirectory,
                status.device == device
            else { return nil }
            return (name, tree.id(of: status))
        }
    }

    func has(_ directory: FileID) -> Bool { directory == .root || places[directory] != nil }

    /// Where a label's place is now. A directory that is nowhere by its number is the one at its path: all of a
    /// container that was copied has other numbers.
    ///
    /// - Parameter isKnown: whether something else tells of a directory that is nowhere.
    mutating func place(_ place: Place, at path: TreePath, isKnown: (FileID) -> Bool) -> Place {
        if tell(place.directory) || isKnown(place.directory) { return place }
        guard let parent = path.parent else { return place }
        if let there = tree.directory(parent) {
            tell(path: parent)
            return Place(directory: there, name: place.name)
        }
        return Place(directory: goneDirectory(parent, place.directory), name: place.name)
    }

    /// - Returns: whether the tree has it.
    private mutating func tell(_ directory: FileID) -> Bool {
        guard !told.contains(directory) else { return true }
        guard let place = places[directory] else { return false }
        _ = tell(place.directory)
        add(Found(directory: directory, place: place, isThere: true))
        return true
    }

    private mutating func tell(path: TreePath) {
        for row in tree.rows(for: path).reversed() where !told.contains(row.id) {
            add(Found(directory: row.id, place: row.place, isThere: true))
        }
    }

    /// A directory of which only paths tell, with those above it.
    private mutating func goneDirectory(_ path: TreePath, _ id: FileID?) -> FileID {
        guard let name = path.name, let parent = path.parent else { return .root }
        if let known = gone[path] { return known }
        if let there = tree.directory(path) {
            tell(path: path)
            return there
        }
        let above = goneDirectory(parent, nil)
        let directory = id ?? FileID(ContentID.random().low)
        gone[path] = directory
        add(Found(directory: directory, place: Place(directory: above, name: name), isThere: false))
        return directory
    }

    private mutating func add(_ directory: Found) {
        told.insert(directory.directory)
        found.append(directory)
    }
}
