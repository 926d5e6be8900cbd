// Finds files and directories after renames that are not in the catalog: after a disorderly end, or after changes of
// the tree while it was not mounted.

import CLinux
import Glibc
import Logging
import SystemPackage
import VersionModel

/// One walk over the live tree. A file is recognized by its ``FileID`` at any place. The walk lists all directories,
/// but looks at a directory's files only if it has changed since the catalog's last change.
struct Relocation {
    /// A file whose place or content differs from the catalog.
    struct Stray {
        var place: Place
        var path: TreePath
        var file: Item.LiveFile
        /// The item recorded there, with another file.
        var occupant: Item?
    }

    /// An item whose own file is missing from some of its places.
    struct Displaced {
        var item: Item
        /// Places without a file.
        var absent: Set<Place> = []
        /// Places with another file.
        var replaced: Set<Place> = []
    }

    private struct Folder {
        var parent: Int
        var name: FileName?
        var id = FileID(0)
    }

    /// Changes are recorded a moment after they happen.
    private static let slackNanoseconds: Int64 = 60_000_000_000

    private let root: FileDescriptor
    private let identity: FileIdentity
    private let catalog: Catalog
    private let device: UInt64
    private var horizon = Timestamp(nanoseconds: .min)
    private var folders: [Folder] = []
    private var known: [FileID: Int] = [:]
    private var strays: [FileID: [Stray]] = [:]
    private var displaced: [ItemID: Displaced] = [:]
    /// Directories with unknown contents: another file system is mounted there, or they are unreadable. A file below
    /// them cannot be reported as gone.
    private var hidden: [TreePath] = []
    /// Before this time the catalog knows all changes; nil if the time has to be derived from the catalog.
    private let since: Timestamp?

    init(root: FileDescriptor, identity: FileIdentity, catalog: Catalog, since: Timestamp? = nil) throws(Errno) {
        self.root = root
        self.identity = identity
        self.catalog = catalog
        self.since = since
        device = try System.extendedStatus("", in: root).device
    }

    /// Moves items and directories to the present places of their files.
    /// - Returns: the number of moved items and directories.
    mutating func run(
        now: Timestamp,
        _ settle: (Displaced, [Stray], (FileID) -> [VersionStore.Mutation]) throws -> [VersionStore.Mutation]
    ) throws -> Int {
        let recorded = try catalog.access { try Query.recordedDirectories($0) }
        // A clock that was set back gives no information about later changes.
        if let since {
            horizon = since
        } else if let last = try catalog.access({ try Query.lastChange($0) }), last.time <= now {
            horizon = last.time.advanced(byNanoseconds: -Self.slackNanoseconds)
        }
        try walk(recorded)
        let directories = try directoryRows(recorded)
        try catalog.applyNow(directories)
        for directory in recorded where try known[directory] == nil && !isHidden(directory) {
            for item in try catalog.access({ try Query.items(in: directory, $0) }) {
                for place in item.places where place.directory == directory { note(item) { $0.absent.insert(place) } }
            }
        }
        for lost in displaced.values.sorted(by: { $0.item.id < $1.item.id }) {
            try catalog.applyNow(try settle(lost, found(lost.item), rows))
        }
        return directories.count + displaced.count
    }

    /// The present path of a directory; nil if it is not in the tree.
    func path(of directory: FileID) -> TreePath? { known[directory].map { path($0) } }

    /// The rows that give a directory its path.
    func rows(for directory: FileID) -> [VersionStore.Mutation] {
        guard var index = known[directory] else { return [] }
        var rows: [VersionStore.Mutation] = []
        while let place = place(of: index) {
            rows.append(.directory(Directory(id: folders[index].id, place: place)))
            index = folders[index].parent
        }
        return rows
    }

    // MARK: The walk

    private mutating func walk(_ recorded: Set<FileID>) throws {
        folders = [Folder(parent: -1, name: nil)]
        var next = 0
        while next < folders.count {
            try visit(next, recorded)
            next += 1
        }
    }

    private mutating func visit(_ index: Int, _ recorded: Set<FileID>) throws {
        // A directory that cannot be opened has changed since it was listed.
        let directory: FileDescriptor
        do throws(Errno) { directory = try open(index) } catch {
            if error != .noSuchFileOrDirectory { hidden.append(path(index)) }
            return
        }
        defer { System.close(directory) }
        guard let status = try? System.extendedStatus("", in: directory), status.device == device,
            index == 0 || !NestedState.lies(in: directory)
        else {
            return hidden.append(path(index))
        }
        let id = index == 0 ? .root : identity.id(device: status.device, inode: status.inode, born: status.birth)
        folders[index].id = id
        known[id] = index
        var files: [FileName] = []
        for entry in (try? System.entries(in: directory)) ?? [] {
            if index == 0, entry.name.bytes == Array(StateDirectory.name.utf8) { continue }
            var type = Int32(entry.type)
            if type == DT_UNKNOWN, let status = try? System.status(entry.name.cName, in: directory) {
                type = Int32(status.st_mode & S_IFMT) >> 12
            }
            if type == DT_DIR { folders.append(Folder(parent: index, name: entry.name)) }
            if type == DT_REG { files.append(entry.name) }
        }
        if status.change >= horizon { try compare(directory, index, files, isRecorded: recorded.contains(id)) }
    }

    /// Notes the differences between the catalog and a directory.
    private mutating func compare(
        _ directory: FileDescriptor, _ index: Int, _ files: [FileName], isRecorded: Bool
    ) throws {
        let id = folders[index].id
        var items: [FileName: Item] = [:]
        for item in isRecorded ? try catalog.access({ try Query.items(in: id, $0) }) : [] {
            for place in item.places where place.directory == id { items[place.name] = item }
        }
        for name in files {
            let item = items.removeValue(forKey: name)
            // The file of some items was unknown.
            if let item, item.file.id == FileID(0) { continue }
            guard let status = try? System.extendedStatus(name.cName, in: directory) else { continue }
            let file = identity.id(device: status.device, inode: status.inode, born: status.birth)
            if let item, item.file.id == file { continue }
            let place = Place(directory: id, name: name)
            if let item { note(item) { $0.replaced.insert(place) } }
            let live = Item.LiveFile(id: file, size: status.size, modified: status.modification)
            let stray = Stray(place: place, path: path(index).appending(name), file: live, occupant: item)
            strays[file, default: []].append(stray)
        }
        for (name, item) in items { note(item) { $0.absent.insert(Place(directory: id, name: name)) } }
    }

    private func isHidden(_ directory: FileID) throws -> Bool {
        guard !hidden.isEmpty else { return false }
        let path = try catalog.access { try Query.path(of: directory, $0) }
        return path.map { path in hidden.contains { path.isWithin($0) } } ?? true
    }

    private mutating func note(_ item: Item, _ body: (inout Displaced) -> Void) {
        body(&displaced[item.id, default: Displaced(item: item)])
    }

    /// The present places of an item's file other than its recorded ones.
    private func found(_ item: Item) -> [Stray] {
        if item.file.id != FileID(0) { return strays[item.file.id] ?? [] }
        guard !item.isReturning else { return [] }
        return strays.values.joined().filter {
            $0.file.size == item.file.size && $0.file.modified == item.file.modified
        }
    }

    // MARK: Directories

    /// Rows for the recorded directories with a new place, and for those of documents that have no row.
    private func directoryRows(_ used: Set<FileID>) throws -> [VersionStore.Mutation] {
        let rows = try catalog.access { try Query.allDirectories($0) }
        let places = Dictionary(rows.map { ($0.id, $0.place) }, uniquingKeysWith: { $1 })
        var moved: [VersionStore.Mutation] = []
        var done: Set<Int> = []
        for id in rows.map(\.id) + used.sorted() {
            guard var index = known[id] else { continue }
            while let place = place(of: index), done.insert(index).inserted {
                let id = folders[index].id
                if places[id] != place { moved.append(.directory(Directory(id: id, place: place))) }
                index = folders[index].parent
            }
        }
        return moved
    }

    /// nil for the root.
    private func place(of index: Int) -> Place? {
        guard let name = folders[index].name else { return nil }
        return Place(directory: folders[folders[index].parent].id, name: name)
    }

    private func names(_ index: Int) -> [FileName] {
        var (names, index): ([FileName], Int) = ([], index)
        while let name = folders[index].name {
            names.append(name)
            index = folders[index].parent
        }
        return names.reversed()
    }

    private func path(_ index: Int) -> TreePath { TreePath(names: names(index)) }

    private func open(_ index: Int) throws(Errno) -> FileDescriptor {
        try System.openDirectory(names(index), in: root, O_RDONLY)
    }
}
