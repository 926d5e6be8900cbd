// What may happen in a container of format 1.

import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

extension FormerWorld {
    /// Something random that is possible.
    func step() throws {
        let operations: [() throws -> Bool] = [
            create, create, save, save, append, conflict, resolve, rename, rename, renameOver, delete, delete, link,
            removeName, part, makeDirectory, renameDirectory, removeDirectory, undelete, mark, deleteWithout,
            saveBeside, thin, deleteSymlink,
        ]
        tick()
        if let operation = pick(operations), try operation() { commit() }
    }

    func create() throws -> Bool {
        let (path, text, id) = (newPath(), text(), ItemID.random(using: &random))
        try fixture.write(path, text)
        // Some names were there before the container.
        if isLikely(80) { note([try change(.created, path, item: id, before: 500)]) }
        let version = version(id, text, parents: [])
        try put(id, [path], [version])
        note([try change(.saved, path, item: id, version: version.id)])
        return true
    }

    private func living() -> (id: ItemID, document: Document)? {
        let id = pick(documents.filter { !$0.value.names.isEmpty }.keys.sorted())
        return id.flatMap { id in documents[id].map { (id, $0) } }
    }

    /// A program has replaced the file of a document.
    private func replace(_ id: ItemID, _ document: Document, loser: Bool = false) throws {
        let current = try #require(document.versions.last { $0.kind == .current })
        guard document.names.count == 1, let path = document.names.first else { return }
        let before = document.versions.dropLast().last { $0.kind == .history && !$0.flags.contains(.beside) }
        let base = loser ? before : nil
        try keep(path, current)
        let text = text()
        try fixture.write(path, text)
        let isLoser = loser && base != nil
        let next = version(id, text, parents: isLoser ? [base?.id ?? current.id] : [current.id], base: base?.id)
        let others = superseded(document.versions, as: isLoser ? .conflict : .history, base: base?.id)
        try put(id, [path], others + [next])
        if isLoser { note([try change(.conflict, path, item: id, version: current.id)]) }
        note([try change(.saved, path, item: id, version: next.id)])
    }

    func save() throws -> Bool {
        guard let (id, document) = living(), document.names.count == 1 else { return false }
        try replace(id, document)
        return true
    }

    func conflict() throws -> Bool {
        guard let (id, document) = living(), document.names.count == 1, document.versions.count > 1 else {
            return false
        }
        try replace(id, document, loser: true)
        return true
    }

    func append() throws -> Bool {
        guard let (id, document) = living(), let path = document.names.first,
            let current = document.versions.last(where: { $0.kind == .current }),
            !store.contents.contains(current.content)
        else { return false }
        let text = try String(contentsOfFile: absolute(path), encoding: .utf8) + text()
        let file = try FileDescriptor.open(FilePath(absolute(path)), .writeOnly)
        try file.writeAll(Array(text.utf8))
        try file.close()
        let next = version(id, text, content: current.content, parents: [current.id])
        try put(id, document.names, superseded(document.versions) + [next])
        note([try change(.saved, path, item: id, version: next.id)])
        return true
    }

    /// All conflicts are resolved by one save, which may have more than two parents.
    func resolve() throws -> Bool {
        guard let (id, document) = pick(documents.filter { document in
            document.value.names.count == 1 && document.value.versions.contains { $0.kind == .conflict }
        }.sorted { $0.key < $1.key }), let path = document.names.first,
            let current = document.versions.last(where: { $0.kind == .current })
        else { return false }
        let losers = document.versions.filter { $0.kind == .conflict }
        try keep(path, current)
        let text = text()
        try fixture.write(path, text)
        let next = version(id, text, parents: [current.id] + losers.map(\.id))
        let others = superseded(document.versions).map { version in
            var version = version
            version.kind = .history
            return version
        }
        try put(id, [path], others + [next])
        note([try change(.resolved, path, item: id, version: next.id)])
        return true
    }

    func rename() throws -> Bool {
        guard let path = pick(names.keys.sorted()), let id = names[path], let document = documents[id] else {
            return false
        }
        let to = newPath()
        try #require(Glibc.rename(absolute(path), absolute(to)) == 0)
        note([try change(.renamed, to, item: id, from: path)])
        try put(id, document.names.map { $0 == path ? to : $0 }, document.versions)
        return true
    }

    /// The item that was renamed has no name any more; the other goes on with its content.
    func renameOver() throws -> Bool {
        let single = documents.filter { $0.value.names.count == 1 }.keys.sorted()
        guard let id = pick(single), let target = pick(single), id != target, let source = documents[id],
            let other = documents[target], let from = source.names.first, let to = other.names.first,
            let moved = source.versions.last(where: { $0.kind == .current }),
            let current = other.versions.last(where: { $0.kind == .current }), !store.contents.contains(moved.content)
        else { return false }
        try keep(to, current)
        try #require(Glibc.rename(absolute(from), absolute(to)) == 0)
        let text = try String(contentsOfFile: absolute(to), encoding: .utf8)
        let next = version(target, text, content: moved.content, parents: [current.id])
        try put(id, [], source.versions)
        try put(target, [to], superseded(other.versions) + [next])
        note([
            try change(.renamed, to, item: id, version: next.id, from: from),
            try change(.saved, to, item: target, version: next.id),
        ])
        return true
    }

    private func deletion(_ path: String, _ item: ItemID?, _ type: EntryType, file: FileID) throws -> Deletion {
        let id = DeletionID.random(using: &random)
        return Deletion(
            id: id, place: try place(path), path: try #require(TreePath(bytes: path.utf8)), type: type, file: file,
            item: item, size: 3, deleted: now, author: author(), group: id,
            parentAccessed: now.advanced(byNanoseconds: -5), parentModified: now.advanced(byNanoseconds: -7),
            attributes: Attributes(mode: 0o644, owner: 0, group: 0))
    }

    private func moveIn(_ path: String, _ item: ItemID?, _ type: EntryType) throws {
        let deletion = try deletion(path, item, type, file: try fixture.fileID(path, store))
        try directory(of: path) { try store.deletedArea.moveIn(deletion.place.name, of: $0, deletion) }
        deletions[deletion.id] = deletion
        note([.deletion(deletion)])
        note([try change(.deleted, path, item: item)])
    }

    func delete() throws -> Bool {
        guard let (id, document) = living(), document.names.count == 1, let path = document.names.first,
            let current = document.versions.last(where: { $0.kind == .current }),
            !store.contents.contains(current.content)
        else { return false }
        try moveIn(path, id, .file)
        try put(id, [], document.versions)
        return true
    }

    /// A file of which nothing was recorded: ignored, or not touched before.
    func deleteWithout() throws -> Bool {
        let path = newPath()
        try fixture.write(path, text())
        try moveIn(path, isLikely(50) ? .random(using: &random) : nil, .file)
        return true
    }

    func deleteSymlink() throws -> Bool {
        let path = newPath()
        try #require(symlink("nowhere", absolute(path)) == 0)
        try moveIn(path, nil, .symlink)
        return true
    }

    func link() throws -> Bool {
        guard let (id, document) = living(), let path = document.names.first else { return false }
        let to = newPath()
        try #require(Glibc.link(absolute(path), absolute(to)) == 0)
        note([try change(.created, to)])
        try put(id, document.names + [to], document.versions)
        return true
    }

    func removeName() throws -> Bool {
        guard let (id, document) = pick(documents.filter { $0.value.names.count > 1 }.sorted { $0.key < $1.key }),
            let path = pick(document.names)
        else { return false }
        let deletion = try deletion(path, id, .link, file: try fixture.fileID(path, store))
        try store.deletedArea.note(deletion)
        try #require(unlink(absolute(path)) == 0)
        deletions[deletion.id] = deletion
        note([.deletion(deletion)])
        try put(id, document.names.filter { $0 != path }, document.versions)
        note([try change(.deleted, path, item: id)])
        return true
    }

    /// A program replaces the file under one name of several: the others go on with it as a document of their own.
    func part() throws -> Bool {
        guard let (id, document) = pick(documents.filter { $0.value.names.count > 1 }.sorted { $0.key < $1.key }),
            let path = pick(document.names), let current = document.versions.last(where: { $0.kind == .current }),
            !store.contents.contains(current.content)
        else { return false }
        let others = document.names.filter { $0 != path }
        let text = text()
        try fixture.write("new", text)
        try #require(Glibc.rename(absolute("new"), absolute(path)) == 0)
        let other = ItemID.random(using: &random)
        var copy = current
        (copy.id, copy.item, copy.parents, copy.base) = (.random(using: &random), other, [current.id], nil)
        if isLikely(15) { copy.flags.insert(.pinned) }
        let next = version(id, text, parents: [current.id])
        try put(id, [path], superseded(document.versions) + [next])
        try put(other, others, [copy], isFileKnown: isLikely(50))
        note([try change(.saved, path, item: id, version: next.id)])
        return true
    }

    // MARK: Directories

    func makeDirectory() throws -> Bool {
        guard directories.count < 5 else { return false }
        let path = newPath()
        try #require(mkdir(absolute(path), 0o755) == 0)
        let id = try fixture.fileID(path, store)
        note([.directory(Directory(id: id, place: try place(path))), try change(.created, path)])
        directories[path] = id
        return true
    }

    func renameDirectory() throws -> Bool {
        guard let path = pick(directories.keys.sorted()), !path.isEmpty, let id = directories[path] else {
            return false
        }
        let to = newPath()
        guard !to.hasPrefix(path + "/") else { return false }
        try #require(Glibc.rename(absolute(path), absolute(to)) == 0)
        note([try change(.renamed, to, from: path)])
        func moved(_ name: String) -> String {
            name == path || name.hasPrefix(path + "/") ? to + name.dropFirst(path.count) : name
        }
        directories = Dictionary(uniqueKeysWithValues: directories.map { (moved($0), $1) })
        names = Dictionary(uniqueKeysWithValues: names.map { (moved($0), $1) })
        documents = documents.mapValues { document in
            var document = document
            document.names = document.names.map(moved)
            return document
        }
        note([.directory(Directory(id: id, place: try place(to)))])
        return true
    }

    func removeDirectory() throws -> Bool {
        let empty = directories.keys.sorted().filter { path in
            !path.isEmpty && !names.keys.contains { $0.hasPrefix(path + "/") }
                && !directories.keys.contains { $0.hasPrefix(path + "/") }
        }
        guard let path = pick(empty) else { return false }
        try moveIn(path, nil, .directory)
        directories[path] = nil
        return true
    }

    // MARK: The rest

    func undelete() throws -> Bool {
        guard let id = pick(deletions.filter { [.file, .directory].contains($0.value.type) }.keys.sorted()),
            let deletion = deletions[id], let above = directories.first(where: { $0.value == deletion.place.directory })
        else { return false }
        let name = "\(deletion.place.name)"
        let path = above.key.isEmpty ? name : "\(above.key)/\(name)"
        guard names[path] == nil, directories[path] == nil, try !isThere(path) else { return false }
        if deletion.type == .file, deletion.item.flatMap({ documents[$0] }) == nil { return false }
        try directory(of: path) { try store.deletedArea.moveOut(id, to: deletion.place.name, of: $0) }
        deletions[id] = nil
        note([.removeDeletion(id), try change(.undeleted, path, item: deletion.item)])
        if deletion.type == .directory {
            directories[path] = deletion.file
            note([.directory(Directory(id: deletion.file, place: deletion.place))])
        } else if let item = deletion.item, let document = documents[item] {
            try put(item, [path], document.versions)
        }
        return true
    }

    private func isThere(_ path: String) throws -> Bool { (try? System.status(path, in: fixture.root)) != nil }

    /// Pins and other marks.
    func mark() throws -> Bool {
        guard let (id, document) = living(), let version = pick(document.versions),
            let index = document.versions.firstIndex(of: version)
        else { return false }
        let flag: Version.Flags = [.pinned, .unfinished, .contentLost].randomElement(using: &random) ?? .pinned
        if flag == .contentLost, version.kind == .current { return false }
        documents[id]?.versions[index].flags.insert(flag)
        if let flags = documents[id]?.versions[index].flags { note([.flags(version.id, flags)]) }
        return true
    }

    /// A program has saved into a file that had lost its name.
    func saveBeside() throws -> Bool {
        guard let (id, document) = living(), let path = document.names.first,
            let first = document.versions.first,
            let current = document.versions.firstIndex(where: { $0.kind == .current })
        else { return false }
        let text = text()
        try fixture.write("beside", text)
        var version = version(id, text, parents: [first.id])
        version.kind = isLikely(50) ? .conflict : .history
        version.flags.insert(.beside)
        try store.contents.keep(
            moving: try #require(FileName("beside")), in: fixture.root, as: version.content,
            .init(version: version, path: try #require(TreePath(bytes: path.utf8)), place: try place(path)))
        documents[id]?.versions.insert(version, at: current)
        note([.version(version)])
        return true
    }

    /// A version goes from the graph.
    func thin() throws -> Bool {
        guard let (id, document) = living(), let version = pick(document.versions.filter { $0.kind == .history }) else {
            return false
        }
        // Else nothing would tell what another document has parted from.
        let isNamed = documents.contains { other in
            other.key != id && other.value.versions.contains { $0.parents.contains(version.id) }
        }
        if isNamed { return false }
        documents[id]?.versions.removeAll { $0.id == version.id }
        note([.removeVersion(version.id)])
        return true
    }
}
