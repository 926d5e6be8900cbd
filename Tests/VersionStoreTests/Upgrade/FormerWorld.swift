// A container of format 1 in which random things happen, recorded as format 1 records them.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

/// Files below a fixture's directory, the records of them, and what their names showed at each moment.
final class FormerWorld {
    struct Document {
        var item: Item
        /// All that there are, oldest first.
        var versions: [Version]
        /// The paths of its names.
        var names: [String]
    }

    /// What the names showed at a time.
    struct Moment {
        var time: Timestamp
        var names: [String: VersionID]
        var directories: Set<String>
    }

    let fixture: Fixture
    let store: VersionStore
    var random: SeededGenerator
    private(set) var now = Timestamp(nanoseconds: 1_700_000_000_000_000_000)
    var documents: [ItemID: Document] = [:]
    var names: [String: ItemID] = [:]
    var directories: [String: FileID] = ["": .root]
    var deletions: [DeletionID: Deletion] = [:]
    private(set) var moments: [Moment] = []
    var count = 0
    private var rows: [VersionStore.Mutation] = []

    init(_ fixture: Fixture, seed: UInt64) throws {
        self.fixture = fixture
        store = try fixture.store()
        random = SeededGenerator(seed: seed)
        store.commit([.setting(key: "adopted", value: Array("\(now.nanoseconds)".utf8))])
    }

    // MARK: Time and names

    func tick() { now = now.advanced(byNanoseconds: 1_000_000_000) }

    func note(_ mutations: [VersionStore.Mutation]) { rows += mutations }

    /// Ends an operation.
    func commit() {
        store.commit(rows)
        rows = []
        let shown = names.compactMapValues { documents[$0]?.item.current }
        let time = now.advanced(byNanoseconds: 500_000_000)
        moments.append(Moment(time: time, names: shown, directories: Set(directories.keys)))
    }

    func pick<Element>(_ elements: some Collection<Element>) -> Element? { elements.randomElement(using: &random) }

    func isLikely(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    func newPath() -> String {
        let directory = pick(directories.keys.sorted()) ?? ""
        while true {
            let name = ["a", "b", "c", "d", "e", "f", "g"].randomElement(using: &random) ?? "a"
            let path = directory.isEmpty ? name : "\(directory)/\(name)"
            if names[path] == nil, directories[path] == nil { return path }
            count += 1
            if count % 7 == 0 { return path + "\(count)" }
        }
    }

    func absolute(_ path: String) -> String { "\(fixture.path)/\(path)" }

    func parent(_ path: String) -> String {
        path.split(separator: "/").dropLast().joined(separator: "/")
    }

    func place(_ path: String) throws -> Place {
        let name = try #require(FileName(String(path.split(separator: "/").last ?? "")))
        return Place(directory: try #require(directories[parent(path)]), name: name)
    }

    func author() -> Author {
        Author(userID: 1000, user: "ana", program: ["vim", "sh", "cc"].randomElement(using: &random) ?? "", process: 7)
    }

    func change(
        _ event: ChangeEvent, _ path: String, item: ItemID? = nil, version: VersionID? = nil, from: String? = nil,
        before: Int64 = -1_000
    ) throws -> VersionStore.Mutation {
        .change(
            Change(
                event: event, path: try #require(TreePath(bytes: path.utf8)),
                from: from.flatMap { TreePath(bytes: $0.utf8) }, item: item, version: version,
                time: now.advanced(byNanoseconds: -before), author: author(), directory: try place(path).directory,
                fromDirectory: try from.map { try place($0).directory }))
    }

    func directory<Result>(of path: String, _ body: (FileDescriptor) throws -> Result) throws -> Result {
        let above = parent(path)
        let directory = try System.open(above.isEmpty ? "." : above, in: fixture.root, O_RDONLY | O_DIRECTORY)
        defer { System.close(directory) }
        return try body(directory)
    }

    // MARK: Versions

    func text() -> String {
        count += 1
        return "text \(count) " + String(repeating: "x", count: count % 50)
    }

    func version(
        _ item: ItemID, _ text: String, content: ContentID? = nil, parents: [VersionID], base: VersionID? = nil
    ) -> Version {
        Version(
            id: .random(using: &random), item: item, kind: .current,
            content: content ?? .random(using: &random), size: UInt64(text.utf8.count),
            modified: now.advanced(byNanoseconds: -10), saved: now, time: HybridTime(wall: now, logical: 0),
            device: Records.device, author: author(), parents: parents, base: base,
            hash: isLikely(70) ? Records.hash(text) : nil,
            attributes: Attributes(mode: 0o644, owner: 1000, group: 1000, accessList: isLikely(10) ? [1, 2] : nil),
            flags: .sealed)
    }

    /// The file of a name becomes the object of the version that it holds.
    func keep(_ path: String, _ version: Version) throws {
        var version = version
        if version.kind == .current { version.kind = .history }
        let name = try place(path).name
        guard !store.contents.contains(version.content) else {
            return unlink(absolute(path)) == 0 ? () : ()
        }
        try directory(of: path) {
            try store.contents.keep(
                moving: name, in: $0, as: version.content,
                .init(version: version, path: try #require(TreePath(bytes: path.utf8)), place: try place(path)))
        }
    }

    func item(_ id: ItemID, _ names: [String], current: VersionID, isFileKnown: Bool = true) throws -> Item {
        var file = Item.LiveFile(id: FileID(0), size: 1, modified: now)
        if let name = names.first {
            let status = try System.extendedStatus(name, in: fixture.root)
            file = Item.LiveFile(
                id: isFileKnown ? try fixture.fileID(name, store) : FileID(0), size: status.size,
                modified: status.modification, changed: isLikely(50) ? status.change : nil)
        } else if let known = documents[id] {
            file = known.item.file
        }
        return Item(id: id, places: try names.map { try place($0) }, current: current, file: file)
    }

    /// Records a document with its versions.
    func put(_ id: ItemID, _ names: [String], _ versions: [Version], isFileKnown: Bool = true) throws {
        let current = try #require(versions.last { $0.kind == .current })
        let item = try item(id, names, current: current.id, isFileKnown: isFileKnown)
        let former = Set(documents[id]?.versions ?? [])
        note(versions.filter { !former.contains($0) }.map { .version($0) } + [.item(item)])
        documents[id] = Document(item: item, versions: versions, names: names)
        self.names = self.names.filter { $0.value != id || names.contains($0.key) }
        for name in names { self.names[name] = id }
    }

    func superseded(_ versions: [Version], as kind: VersionKind = .history, base: VersionID? = nil) -> [Version] {
        versions.map { version in
            guard version.kind == .current else { return version }
            var version = version
            version.kind = kind
            if kind == .conflict { version.base = base }
            return version
        }
    }
}
