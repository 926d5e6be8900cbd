// A container that the engine serves, over a fresh directory, without a kernel.

import Foundation
import Glibc
import Lineage
import LineageWorlds
import Logging
import Support
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

/// The container of one test, which may be killed and mounted again, with the requests it makes.
final class ServedContainer {
    let path: String
    let clock = SteppingClock()
    let caller = Caller(user: getuid(), group: getgid(), thread: getpid(), umask: 0o022)
    private let root: FileDescriptor
    let store: ContainerState
    private let logger: Logger
    private let settings: Settings
    private(set) var facts: FactStore
    private(set) var container: EngineContainer
    /// Containers of mounts that were killed: nothing of them is closed, as a kill closes nothing.
    private var killed: [EngineContainer] = []

    init(files: [String: String] = [:], _ settings: Settings = Settings()) throws {
        self.settings = settings
        path = try Workplace.fresh("served")
        for (name, text) in files { try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8) }
        root = try FileDescriptor.open(path, .readOnly, options: .directory)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        self.logger = logger
        store = try ContainerState(root: root, options: .init(clock: clock, logger: logger))
        (facts, container) = try Self.mount(store, clock, logger, settings)
    }

    deinit {
        container.close()
        store.close()
        try? root.close()
        try? FileManager.default.removeItem(atPath: path)
    }

    private static func mount(
        _ state: ContainerState, _ clock: SteppingClock, _ logger: Logger, _ settings: Settings
    ) throws -> (FactStore, EngineContainer) {
        let facts = try FactStore(of: state)
        let options = LiveContainer.Options(clock: clock, logger: logger, settings: settings, servesOthers: false)
        return (facts, try EngineContainer(state, facts, options))
    }

    // MARK: Ends

    /// The mount ends in order, something is done below it, and the next one begins.
    func remount(_ meanwhile: () throws -> Void = {}) throws {
        container.close()
        try meanwhile()
        clock.advance(seconds: 60)
        (facts, container) = try Self.mount(store, clock, logger, settings)
    }

    /// What the state has at one moment, as a kill would leave it.
    func state() throws -> [String: Data] {
        facts.flush()
        var state: [String: Data] = [:]
        for name in ["catalog2.sqlite", "catalog2.sqlite-wal", "redo2", MarkFile.name] {
            state[name] = try? Data(contentsOf: URL(fileURLWithPath: "\(path)/.versionsfs/\(name)"))
        }
        return state
    }

    /// The mount is killed, and the next one begins.
    /// - Parameters:
    ///   - state: of the moment of the kill; nil for now.
    ///   - meanwhile: is done before the next mount.
    func kill(leaving state: [String: Data]? = nil, _ meanwhile: () throws -> Void = {}) throws {
        let state = try state ?? self.state()
        killed.append(container)
        facts.close()
        for name in ["catalog2.sqlite-shm", "catalog2.sqlite-wal", "redo2", MarkFile.name] {
            try? FileManager.default.removeItem(atPath: "\(path)/.versionsfs/\(name)")
        }
        for (name, bytes) in state { try bytes.write(to: URL(fileURLWithPath: "\(path)/.versionsfs/\(name)")) }
        try meanwhile()
        clock.advance(seconds: 2)
        (facts, container) = try Self.mount(store, clock, logger, settings)
    }

    /// The file of marks with what a request has marked that is in the middle of its work.
    /// - Parameters:
    ///   - names: the names that it changes.
    ///   - open: names of files that are open for writing.
    ///   - contents: those that it keeps.
    func marks(_ names: [String], open: [String] = [], contents: [ContentID] = []) throws -> [String: Data] {
        let path = "\(path)/.versionsfs/aside"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let aside = try FileDescriptor.open(path, .readOnly, options: .directory)
        defer { try? aside.close() }
        let file = try MarkFile(in: aside, facts: facts, logger: logger)
        for name in names {
            let (parent, last) = try spot(name)
            let directory = try #require(container.fileID(parent))
            let place = Place(directory: directory, name: try #require(FileName(bytes: last)))
            file.add(.place(try facts.number(of: place)))
        }
        for id in contents { file.add(.content(Content(id))) }
        for name in open { file.add(.file(try #require(container.fileID(try node(name))))) }
        return [MarkFile.name: try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(MarkFile.name)"))]
    }

    // MARK: Requests

    func node(_ path: String) throws -> UInt64 {
        var node = Node.rootID
        for name in path.split(separator: "/") {
            node = try #require(try container.lookup(caller, parent: node, name: Array(name.utf8)), "\(path)").node
        }
        return node
    }

    private func spot(_ path: String) throws -> (parent: UInt64, name: [UInt8]) {
        let names = path.split(separator: "/")
        return (try node(names.dropLast().joined(separator: "/")), Array((names.last ?? "").utf8))
    }

    func create(_ path: String) throws -> UInt64 {
        let (parent, name) = try spot(path)
        let flags = O_RDWR | O_EXCL
        return try container.create(caller, parent: parent, name: name, mode: 0o644, flags: flags).reply.handle
    }

    func open(_ path: String, _ flags: Int32 = O_RDWR) throws -> UInt64 {
        try container.open(caller, node: try node(path), flags: flags, waiting: nil)?.handle ?? 0
    }

    func put(_ text: String, _ handle: UInt64, _ path: String, at offset: off_t = 0) throws {
        let bytes = Array(text.utf8)
        let node = try node(path)
        _ = try bytes.withUnsafeBytes {
            try container.write(caller, node: node, handle: handle, $0, offset: offset, flags: nil)
        }
    }

    func synchronize(_ handle: UInt64, _ path: String) throws {
        try container.synchronize(node: try node(path), handle: handle, dataOnly: false)
    }

    func close(_ handle: UInt64, _ path: String) throws {
        let node = try node(path)
        container.flush(caller, handle: handle)
        container.release(node: node, handle: handle)
    }

    /// A save of a whole text, in place or of a new file.
    func save(_ path: String, _ text: String) throws {
        let isThere = FileManager.default.fileExists(atPath: "\(self.path)/\(path)")
        let handle = isThere ? try open(path, O_RDWR | O_TRUNC) : try create(path)
        try put(text, handle, path)
        try close(handle, path)
    }

    func rename(_ path: String, to other: String, flags: UInt32 = 0) throws {
        let (one, two) = (try spot(path), try spot(other))
        try container.rename(
            caller, parent: one.parent, name: one.name, newParent: two.parent, newName: two.name, flags: flags)
    }

    func unlink(_ path: String) throws {
        let (parent, name) = try spot(path)
        try container.unlink(caller, parent: parent, name: name)
    }

    func link(_ path: String, to other: String) throws {
        let (node, two) = (try node(path), try spot(other))
        _ = try container.link(caller, node: node, parent: two.parent, name: two.name)
    }

    func makeDirectory(_ path: String) throws {
        let (parent, name) = try spot(path)
        _ = try container.makeDirectory(caller, parent: parent, name: name, mode: 0o755)
    }

    // MARK: Below the mount

    func write(_ path: String, _ text: String) throws {
        try text.write(toFile: "\(self.path)/\(path)", atomically: false, encoding: .utf8)
    }

    func text(_ path: String) -> String? { try? String(contentsOfFile: "\(self.path)/\(path)", encoding: .utf8) }

    // MARK: Facts

    /// All that was told.
    func told() throws -> Facts {
        Facts(told: try facts.feed(after: 0, limit: .max).transactions.flatMap(\.facts))
    }

    func row(_ path: String) throws -> NameRow? {
        let facts = try told()
        var (directory, row) = (FileID.root, NameRow?.none)
        for name in path.split(separator: "/") {
            let place = Place(directory: directory, name: try #require(FileName(bytes: Array(name.utf8))))
            row = facts.occupant(of: try self.facts.number(of: place))
            guard let file = row?.file else { return nil }
            directory = file
        }
        return row
    }

    /// The contents that a name goes back to, newest first; nil for one that is nowhere.
    func history(_ path: String) throws -> [String?] {
        guard let document = try row(path)?.document else { return [] }
        let facts = try told()
        return try facts.history(of: document).map { try text(of: $0, facts) }
    }

    /// What is left of documents that were removed, the contents of each, newest first.
    func deleted() throws -> [[String?]] {
        let facts = try told()
        return try facts.deleted().filter { !$0.occupant.hasNoVersions }
            .map { try facts.history(of: $0.occupant.document).map { try text(of: $0, facts) } }
    }

    /// What a check finds.
    func found(isAtRest: Bool = false) throws -> [String] {
        try container.check(repair: false, isAtRest: isAtRest, progress: { _, _ in }).map { "\($0)" }
    }

    /// The contents of a name's versions that are marked as unfinished.
    func unfinished(_ path: String) throws -> [String?] {
        guard let document = try row(path)?.document else { return [] }
        return try zip(told().history(of: document), history(path)).filter { version, _ in
            try facts.detail(of: version)?.marks.contains(.unfinished) ?? false
        }.map(\.1)
    }

    /// The path of a name's kept content.
    /// - Parameter place: how many versions are newer.
    func object(of path: String, _ place: Int) throws -> String {
        let document = try #require(try row(path)?.document)
        let facts = try told()
        let number = try #require(facts.history(of: document).dropFirst(place).first)
        let version = try #require(facts[number])
        return ".versionsfs/objects/\(store.contents.name(of: ContentID(version.content)).name)"
    }

    private func text(of number: VersionNumber, _ facts: Facts) throws -> String? {
        guard let version = facts[number] else { return nil }
        let id = ContentID(high: version.content.file.number, low: version.content.generation)
        var bytes: Data?
        if let object = try? store.contents.open(id) {
            bytes = FileHandle(fileDescriptor: object.rawValue, closeOnDealloc: true).readDataToEndOfFile()
        } else if let row = facts.names(of: version.content.file).last {
            bytes = FileManager.default.contents(atPath: try path(of: row, facts))
        }
        let found = bytes?.prefix(Int(clamping: version.fingerprint.size))
        // Bytes that are others by now are lost.
        guard let found, try Self.fingerprint(Array(found), in: self.path) == version.fingerprint else { return nil }
        return String(decoding: found, as: UTF8.self)
    }

    private static func fingerprint(_ bytes: [UInt8], in path: String) throws -> Fingerprint {
        let scratch = "\(path)/.versionsfs/test"
        try Data(bytes).write(to: URL(fileURLWithPath: scratch))
        let file = try Backing.open(path: scratch, in: AT_FDCWD, flags: O_RDONLY)
        defer { Glibc.close(file) }
        let size = UInt64(bytes.count)
        return Fingerprint(hash: ContentHash.sha256(of: file, size: size) ?? [], size: size)
    }

    private func path(of row: NameRow, _ facts: Facts) throws -> String {
        var names: [String] = []
        var next: NameRow? = row
        while let row = next, let place = try self.facts.place(row.place) {
            names.append(String(decoding: place.name.bytes, as: UTF8.self))
            next = facts.names(of: place.directory).last
        }
        return ([path] + names.reversed()).joined(separator: "/")
    }

    /// What a check finds, and where the facts have other names than the disk has. Files of which no fact tells are
    /// none of them.
    func problems() throws -> [String] {
        let facts = try told()
        var problems = try found()
        for place in facts.tree().keys.sorted() {
            guard let row = facts.occupant(of: place) else { continue }
            let path = try path(of: row, facts)
            if access(path, F_OK) != 0 { problems.append("\(path) is not there") }
            for other in facts.names(of: row.document) where other.file != row.file {
                problems.append("\(path) and another name are one document in two files")
            }
        }
        return problems
    }
}
