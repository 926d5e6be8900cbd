// What an unmounted container's facts say of its documents, for the tests of the engine's mount.

import Foundation
import Lineage
import LineageWorlds
import Support
import SystemPackage
import VersionModel
import VersionStore

/// The facts of a container that the engine has served, and its contents.
final class EngineHistory {
    private let path: String
    private let root: FileDescriptor
    private let store: ContainerState
    private let catalog: FactStore
    let facts: Facts

    /// - Parameter path: of the container, which is not mounted.
    init(_ path: String) throws {
        self.path = path
        root = try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
        store = try ContainerState(root: root, options: .init(clock: SystemClock(), readOnly: true))
        catalog = try FactStore(of: store)
        facts = Facts(told: try catalog.feed(after: 0, limit: .max).transactions.flatMap(\.facts))
    }

    func close() throws {
        catalog.close()
        store.close()
        try root.close()
    }

    /// The document at a path.
    func document(at path: String) throws -> DocumentNumber? {
        try row(at: path).flatMap { $0.file == nil ? nil : $0.document }
    }

    private func row(at path: String) throws -> NameRow? {
        var (directory, row) = (FileID.root, NameRow?.none)
        for name in path.split(separator: "/") {
            guard let name = FileName(bytes: Array(name.utf8)) else { return nil }
            let place = try catalog.number(of: VersionModel.Place(directory: directory, name: name))
            row = facts.lastRow(at: place)
            directory = row?.file ?? directory
        }
        return row
    }

    /// The contents that a name goes back to, newest first.
    func contents(of path: String) throws -> [String] {
        guard let document = try document(at: path) else { return [] }
        return try facts.history(of: document).map(text)
    }

    /// The names whose documents go back to other contents than the expected ones.
    func problems(_ expected: [String: [String]]) throws -> [String] {
        try expected.sorted { $0.key < $1.key }.compactMap { name, contents in
            let found = try self.contents(of: name)
            return found == contents ? nil : "\(name): \(found), not \(contents)"
        }
    }

    /// The contents of a name's versions that are marked as the part of a save, newest first.
    func unfinished(_ path: String) throws -> [String] { try contents(of: path, marked: .unfinished) }

    /// Those of its versions whose bytes are marked as lost.
    func lost(_ path: String) throws -> [String] { try contents(of: path, marked: .lost) }

    private func contents(of path: String, marked mark: VersionMarks) throws -> [String] {
        guard let document = try document(at: path) else { return [] }
        return try facts.history(of: document).filter { try catalog.detail(of: $0)?.marks.contains(mark) ?? false }
            .map(text)
    }

    /// What is left of documents without a name: the contents of each, newest first. Of what has no versions, such as
    /// directories, the entries of the deleted area are left.
    func deleted() throws -> [[String]] {
        try facts.deleted()
            .filter { try !$0.occupant.hasNoVersions || catalog.detail(of: $0.departure.number)?.isEntry == true }
            .map { try contents(of: $0.occupant) }
    }

    /// What has a name, by its path.
    func names() throws -> [String: EntryType] {
        let entries = try catalog.lists.tree(below: .root, limit: 10_000).elements
        return Dictionary(uniqueKeysWithValues: entries.map { (Self.text($0.names), $0.name.type) })
    }

    /// The entries of the deleted area, by their former paths.
    func entries() throws -> [String: EntryType] {
        var labels: [String: EntryType] = [:]
        for entry in try catalog.lists.deleted(limit: 10_000).elements where entry.detail.isEntry {
            guard let id = try catalog.lists.id(ofDeletion: entry.number) else { continue }
            let label = try store.deletedArea.label(of: id)
            labels[Self.text(label.path.names)] = label.type
        }
        return labels
    }

    private static func text(_ names: [FileName]) -> String {
        names.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "/")
    }

    private func contents(of row: NameRow) throws -> [String] { try facts.history(of: row.document).map(text) }

    func conflicts(of path: String) throws -> [String] {
        try document(at: path).map { try facts.conflicts(of: $0).map(text) } ?? []
    }

    /// The parents of a name's versions, newest first, each as the contents that they are.
    func isOneLine(_ path: String) throws -> Bool {
        guard let document = try document(at: path) else { return false }
        let history = facts.history(of: document)
        return zip(history, history.dropFirst()).allSatisfy { version, older in
            facts[version].map { $0.parents == Parents(older) && $0.beside == .no && $0.loser == nil } ?? false
        }
    }

    /// The bytes of a version: an object's, or its file's.
    private func text(_ number: VersionNumber) throws -> String {
        guard let version = facts[number] else { return "no version" }
        let id = ContentID(high: version.content.file.number, low: version.content.generation)
        var bytes: Data?
        if let object = try? store.contents.open(id) {
            bytes = FileHandle(fileDescriptor: object.rawValue, closeOnDealloc: true).readDataToEndOfFile()
        } else if let row = facts.names(of: version.content.file).last, let place = try catalog.place(row.place) {
            bytes = FileManager.default.contents(atPath: try self.path(of: place))
        }
        guard let bytes else { return "nowhere" }
        return String(decoding: bytes.prefix(Int(clamping: version.fingerprint.size)), as: UTF8.self)
    }

    private func path(of place: VersionModel.Place) throws -> String {
        var names = [place.name]
        var directory = place.directory
        while directory != .root {
            guard let row = facts.names(of: directory).last, let above = try catalog.place(row.place) else { break }
            names.append(above.name)
            directory = above.directory
        }
        return path + "/" + names.reversed().map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "/")
    }
}
