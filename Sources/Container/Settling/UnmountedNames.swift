// Names that the disk may have otherwise than the facts say, found by the times of directories: those that programs
// changed while nothing was mounted, and those that a power cut has taken.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Walks the directories that facts tell of. Of files it looks at those of changed directories alone. Where something
/// is missing it also looks into directories of which no fact tells.
struct UnmountedNames {
    /// A directory that is to be looked at.
    private struct Item {
        var parent: SharedDescriptor
        var name: FileName
        var file: FileID
        /// The places of the directories above that no fact tells of, and its own if none tells of it.
        var strangers: [Place]?
        /// Whether all its files are others than facts tell of.
        var isCopy = false
    }

    private let tree: LiveTree
    private let facts: FactStore
    private let log: StoredFacts
    private let since: Timestamp
    private var recorded: [FileID: [StoredFacts.DirectoryName]]
    private var unknown: [Item] = []
    /// Names of directories that others have by now.
    private var replaced: [Item] = []
    private var isAnythingMissing = false

    /// What may differ.
    private(set) var places: Set<PlaceNumber> = []
    /// Directories that are nowhere: their names are gone with them.
    private(set) var gone: Set<FileID>

    /// - Parameter since: a directory that has not changed since this time has the names that it had.
    init(_ tree: LiveTree, _ facts: FactStore, since: Timestamp) throws(Errno) {
        (self.tree, self.facts, self.since) = (tree, facts, since)
        log = facts.facts()
        let names = log.directoryNames
        recorded = Dictionary(grouping: names) { $0.place.directory }
        gone = Set(names.map(\.directory))
        try walk(try children(of: .root, tree.root, try Backing.stat(tree.root.raw), nil))
        if isAnythingMissing {
            let items = unknown
            try walk(items)
        }
        try takeCopies()
        for directory in gone { for row in log.names(in: directory) { places.insert(row.place) } }
        guard log.failure == nil else { throw .ioError }
    }

    // MARK: Directories

    private mutating func walk(_ items: [Item]) throws(Errno) {
        var left = items
        while let item = left.popLast() {
            guard let (directory, stat) = try open(item) else { continue }
            left += try children(of: item.file, directory, stat, item.strangers, isCopy: item.isCopy)
        }
    }

    /// - Returns: nil if another file has the name.
    private mutating func open(_ item: Item) throws(Errno) -> (SharedDescriptor, FileStat)? {
        guard let stat = try Backing.statIfPresent(item.name.bytes, in: item.parent.raw) else { return nil }
        guard stat.key.device == tree.rootKey.device, !tree.isNested(item.name, stat, in: item.parent) else {
            // What is mounted over a directory hides what is in it.
            hide(item.file)
            return nil
        }
        guard stat.isDirectory, tree.fileID(stat) == item.file else {
            if !stat.isDirectory, tree.fileID(stat) == item.file { gone.remove(item.file) }
            if stat.isDirectory { replaced.append(item) }
            return nil
        }
        return (try Backing.hold(item.name.bytes, in: item.parent.raw, stat.key), stat)
    }

    /// A directory that no fact tells of, under the name of one that is nowhere, is that one: it was copied, like all
    /// of a container that was restored from a backup.
    private mutating func takeCopies() throws(Errno) {
        while let item = replaced.popLast() {
            guard gone.contains(item.file), let stat = try Backing.statIfPresent(item.name.bytes, in: item.parent.raw),
                stat.isDirectory, log.lastRow(of: tree.fileID(stat)) == nil
            else { continue }
            let copy = tree.fileID(stat)
            facts.replace(item.file, by: copy)
            gone.remove(item.file)
            recorded[copy] = recorded.removeValue(forKey: item.file)
            try walk([Item(parent: item.parent, name: item.name, file: copy, isCopy: true)])
        }
    }

    private mutating func hide(_ directory: FileID) {
        var left = [directory]
        while let next = left.popLast() {
            guard gone.remove(next) != nil else { continue }
            left += (recorded[next] ?? []).map(\.directory)
        }
    }

    /// Looks at what a directory has.
    /// - Returns: the directories in it that are to be looked at, too.
    private mutating func children(
        of file: FileID, _ directory: SharedDescriptor, _ stat: FileStat, _ strangers: [Place]?,
        isCopy: Bool = false
    ) throws(Errno) -> [Item] {
        gone.remove(file)
        var next = (recorded[file] ?? []).map { name in
            Item(parent: directory, name: name.place.name, file: name.directory)
        }
        if isCopy || strangers != nil || max(stat.modified, stat.changed) >= since {
            next += try differences(in: file, directory, strangers)
        }
        return next
    }

    // MARK: Names

    /// - Returns: directories that facts tell of elsewhere, and in a directory of which none tells all of them.
    private mutating func differences(
        in id: FileID, _ directory: SharedDescriptor, _ strangers: [Place]?
    ) throws(Errno) -> [Item] {
        var known: Set<[UInt8]> = []
        for row in log.names(in: id) {
            guard let place = try place(row.place) else { continue }
            known.insert(place.name.bytes)
            guard let stat = try Backing.statIfPresent(place.name.bytes, in: directory.raw) else {
                places.insert(row.place)
                isAnythingMissing = true
                continue
            }
            guard stat.key.device == tree.rootKey.device, tree.fileID(stat) != row.file else { continue }
            places.insert(row.place)
            isAnythingMissing = true
            known.remove(place.name.bytes)
        }
        var next: [Item] = []
        for entry in try Backing.list(directory.raw) where !known.contains(entry.name.bytes) {
            guard !(id == .root && entry.name.bytes == LiveTree.stateName),
                let stat = try Backing.statIfPresent(entry.name.bytes, in: directory.raw),
                stat.key.device == tree.rootKey.device, !tree.isNested(entry.name, stat, in: directory)
            else { continue }
            let file = tree.fileID(stat)
            let isKnown = log.lastRow(of: file) != nil
            // What no fact tells of is adopted when something happens to it.
            guard isKnown || stat.isDirectory else { continue }
            let place = Place(directory: id, name: entry.name)
            if isKnown { for place in (strangers ?? []) + [place] { places.insert(try number(of: place)) } }
            guard stat.isDirectory else { continue }
            let above = isKnown ? nil : (strangers ?? []) + [place]
            let item = Item(parent: directory, name: entry.name, file: file, strangers: above)
            if isKnown || strangers != nil { next.append(item) } else { unknown.append(item) }
        }
        return next
    }

    private func place(_ number: PlaceNumber) throws(Errno) -> Place? {
        do { return try facts.place(number) } catch { throw .ioError }
    }

    private func number(of place: Place) throws(Errno) -> PlaceNumber {
        do { return try facts.number(of: place) } catch { throw .ioError }
    }
}
