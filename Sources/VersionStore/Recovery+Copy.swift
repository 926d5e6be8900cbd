// The catalog after a copy of the container: its files have other identities.

import VersionModel

extension Recovery {
    /// Gives all rows the FileIDs of the copy: by path for the live tree, by entry for the deleted area.
    func translateFileIDs() throws {
        var mutations: [VersionStore.Mutation] = []
        var directories: [FileID: FileID] = [.root: .root]
        var paths: [FileID: TreePath] = [.root: .root]
        for row in try catalog.access({ try Query.allDirectories($0) }) {
            mutations.append(.removeDirectory(row.id))
            guard let path = try catalog.access({ try Query.path(of: row.id, $0) }) else { continue }
            paths[row.id] = path
            directories[row.id] = tree.directory(path)
        }
        for path in paths.values { mutations += rows(for: path) }
        for var item in try catalog.access({ try Query.allItems($0) }) {
            for place in item.places {
                guard let path = paths[place.directory]?.appending(place.name) else { continue }
                if let live = tree.file(path) { item.file.id = live.file.id }
            }
            item.places = item.places.compactMap { place in
                directories[place.directory].map { Place(directory: $0, name: place.name) }
            }
            mutations.append(.item(item))
        }
        for deletion in try catalog.access({ try Query.deletions(within: nil, $0) }) {
            mutations.append(.deletion(corrected(deletion)))
        }
        try catalog.applyNow(mutations)
    }
}
