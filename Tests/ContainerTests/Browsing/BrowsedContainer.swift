// A container over a fresh directory with its `.versions`, without a kernel.

import Foundation
import Glibc
import Logging
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

/// A clock that a test sets; each look at it is a millisecond later than the one before.
final class SteppingClock: WallClock {
    private let nanoseconds = Mutex<(wall: Int64, uptime: Int64)>((1_795_257_192_000_000_000, 0))
    /// What a test does while the container is between two steps, where it looks at the clock.
    let atLook = Mutex<[@Sendable () -> Void]>([])

    func now() -> Timestamp {
        for action in atLook.withLock(\.self) { action() }
        return nanoseconds.withLock { nanoseconds in
            nanoseconds.wall += 1_000_000
            nanoseconds.uptime += 1_000_000
            return Timestamp(nanoseconds: nanoseconds.wall)
        }
    }

    func uptime() -> Int64 { nanoseconds.withLock(\.uptime) }

    /// Time passes.
    func advance(seconds: Int64) {
        nanoseconds.withLock { $0 = ($0.wall + seconds * 1_000_000_000, $0.uptime + seconds * 1_000_000_000) }
    }

    /// Somebody sets the clock.
    func set(aheadBy seconds: Int64) { nanoseconds.withLock { $0.wall += seconds * 1_000_000_000 } }
}

/// The container of one test, with the requests it makes.
final class BrowsedContainer {
    let path: String
    let clock: SteppingClock
    let container: LiveContainer
    let browser: Browser
    let caller = Caller(user: getuid(), group: getgid(), thread: getpid(), umask: 0o022)
    private let root: FileDescriptor
    private(set) var isOwner: Bool
    private var isKilled = false

    /// - Parameters:
    ///   - existing: a container that another one of these has closed, and will remove.
    ///   - seconds: how much later it is.
    ///   - held: how many directories' descriptors are kept at hand.
    ///   - unanswered: for how many seconds a file is watched of which it cannot be told whether it is mapped.
    ///   - listener: hears what requests do.
    init(
        _ settings: Settings = Settings(), at existing: String? = nil, later seconds: Int64 = 0,
        holding held: Int? = nil, unanswered: Int64? = nil, listener: (any EventListener)? = nil,
        clock: SteppingClock = SteppingClock()
    ) throws {
        self.clock = clock
        clock.advance(seconds: seconds)
        isOwner = existing == nil
        var template = Array("/var/tmp/versionsfs-browsing.XXXXXX".utf8CString)
        try #require(existing != nil || mkdtemp(&template) != nil)
        path = existing ?? String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        root = try FileDescriptor.open(path, .readOnly, options: .directory)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let store = try VersionStore(root: root, options: .init(clock: clock, logger: logger))
        var options = LiveContainer.Options(clock: clock, logger: logger, settings: settings, servesOthers: false)
        if let held { options.heldDirectories = held }
        if let unanswered { options.unansweredSeconds = unanswered }
        options.listener = listener
        container = try LiveContainer(root: root, store: store, options: options)
        browser = Browser(container)
    }

    deinit {
        if !isKilled { container.close() }
        try? root.close()
        if isOwner { try? FileManager.default.removeItem(atPath: path) }
    }

    /// What a kill leaves: nobody seals what is open. The next one of these removes the directory.
    func kill() throws {
        container.store.flush()
        let state = ["catalog.sqlite", "catalog.sqlite-wal", RedoLog.name].map {
            URL(fileURLWithPath: "\(path)/.versionsfs/\($0)")
        }
        let bytes = try state.map { try Data(contentsOf: $0) }
        container.store.close()
        for (file, bytes) in zip(state, bytes) { try bytes.write(to: file) }
        try? FileManager.default.removeItem(atPath: "\(path)/.versionsfs/catalog.sqlite-shm")
        (isKilled, isOwner) = (true, false)
    }

    /// The next one, after ``kill()``.
    convenience init(after killed: BrowsedContainer, listener: (any EventListener)? = nil) throws {
        try self.init(at: killed.path, listener: listener, clock: killed.clock)
        isOwner = true
    }

    /// Ends it in order; nothing may be asked of it afterwards.
    func close() { container.close() }

    // MARK: Finding

    static func bytes(_ path: String) -> [[UInt8]] { path.split(separator: "/").map { Array($0.utf8) } }

    /// What a path leads to, `.versions` included; nil if there is nothing. Look-ups are not given back.
    func find(_ names: [[UInt8]]) throws -> Found? {
        var found: Found?
        for name in names {
            let parent = found?.node ?? Node.rootID
            let isOurs = Browser.owns(parent) || name == Browser.name
            found =
                isOurs
                ? try browser.lookup(caller, parent: parent, name: name)
                : try container.lookup(caller, parent: parent, name: name)
            guard found != nil else { return nil }
        }
        return found
    }

    func find(_ path: String) throws -> Found? { try find(Self.bytes(path)) }

    func node(_ path: String) throws -> UInt64 {
        path.isEmpty ? Node.rootID : try #require(try find(path), "\(path)").node
    }

    func mode(_ path: String) throws -> UInt32 {
        UInt32(try #require(try find(path), "\(path)").attributes.stat.st_mode) & 0o7777
    }

    /// The names in a virtual directory.
    func list(_ names: [[UInt8]], withAttributes: Bool = false) throws -> [[UInt8]] {
        let node = try #require(try find(names)).node
        let handle = try browser.openDirectory(caller, node: node)
        defer { browser.releaseDirectory(node: node, handle: handle) }
        var listed: [[UInt8]] = []
        try browser.list(caller, node: node, handle: handle, offset: 0, withAttributes: withAttributes) { entry in
            #expect((entry.found != nil) == (withAttributes && listed.count >= 2))
            if let found = entry.found { #expect(UInt64(found.attributes.stat.st_ino) == entry.inode) }
            listed.append(entry.name)
            return true
        }
        #expect(listed.prefix(2) == [[46], [46, 46]])
        return Array(listed.dropFirst(2))
    }

    func list(_ path: String) throws -> [String] {
        try list(Self.bytes(path)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The only entry of a virtual directory, with its path.
    func only(_ path: String) throws -> String {
        let names = try list(path)
        try #require(names.count == 1, "\(names)")
        return "\(path)/\(names[0])"
    }

    // MARK: Working

    func makeDirectory(_ path: String) throws {
        var names = Self.bytes(path)
        let name = names.removeLast()
        let parent = try find(names)?.node ?? Node.rootID
        _ = try container.makeDirectory(caller, parent: parent, name: name, mode: 0o755)
    }

    /// Saves a file as `echo > path` does, making it if it is not there.
    func save(_ names: [[UInt8]], _ text: String, flags: Int32 = O_TRUNC, mode: mode_t = 0o644) throws {
        let parent = try find(names.dropLast())?.node ?? Node.rootID
        let handle: UInt64
        let node: UInt64
        if let found = try find(names) {
            node = found.node
            handle = try #require(try container.open(caller, node: node, flags: O_WRONLY | flags)).handle
        } else {
            let made = try container.create(
                caller, parent: parent, name: try #require(names.last), mode: mode, flags: O_WRONLY)
            (node, handle) = (made.found.node, made.reply.handle)
        }
        let offset =
            flags & O_APPEND != 0 ? try container.attributes(caller, node: node, handle: handle).stat.st_size : 0
        let written = try Array(text.utf8).withUnsafeBytes {
            try container.write(caller, node: node, handle: handle, $0, offset: offset)
        }
        #expect(written == text.utf8.count)
        container.flush(caller, handle: handle)
        container.release(node: node, handle: handle)
    }

    func save(_ path: String, _ text: String, flags: Int32 = O_TRUNC, mode: mode_t = 0o644) throws {
        try save(Self.bytes(path), text, flags: flags, mode: mode)
    }

    func unlink(_ path: String) throws {
        var names = Self.bytes(path)
        let name = names.removeLast()
        try container.unlink(caller, parent: try find(names)?.node ?? Node.rootID, name: name)
    }

    func removeDirectory(_ path: String) throws {
        var names = Self.bytes(path)
        let name = names.removeLast()
        try container.removeDirectory(caller, parent: try find(names)?.node ?? Node.rootID, name: name)
    }

    /// rename(2) within the live tree, of names at its root.
    func move(_ name: String, to newName: String) throws {
        try container.rename(
            caller, parent: Node.rootID, name: Array(name.utf8), newParent: Node.rootID, newName: Array(newName.utf8),
            flags: 0)
    }

    /// rename(2) from somewhere under `.versions`.
    func rename(_ path: String, to target: String, flags: UInt32 = 0) throws {
        var (from, to) = (Self.bytes(path), Self.bytes(target))
        let (name, newName) = (from.removeLast(), to.removeLast())
        try browser.rename(
            caller, parent: try #require(try find(from)).node, name: name,
            newParent: try find(to)?.node ?? Node.rootID, newName: newName, flags: flags)
    }

    /// The text of a version or deleted file, read with a buffer that is bigger than it.
    func read(_ path: String) throws -> String {
        let node = try node(path)
        let handle = try browser.open(caller, node: node, flags: O_RDONLY).handle
        defer { browser.release(node: node, handle: handle) }
        return try read(node, handle)
    }

    func read(_ node: UInt64, _ handle: UInt64, from offset: off_t = 0) throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = try buffer.withUnsafeMutableBytes {
            try browser.read(node: node, handle: handle, into: $0, offset: offset)
        }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// The text of a live file, as the directory has it.
    func live(_ path: String) throws -> String { try String(contentsOfFile: "\(self.path)/\(path)", encoding: .utf8) }

    // MARK: Versions

    func place(_ path: String) throws -> Place {
        let names = Self.bytes(path)
        let parent = try find(Array(names.dropLast()))?.node ?? Node.rootID
        let directory = try #require(container.nodes[parent])
        return Place(directory: directory.file, name: try #require(names.last.flatMap { FileName(bytes: $0) }))
    }

    func item(_ path: String) throws -> Item { try #require(try container.store.item(at: try place(path))) }

    /// Records a loser of a document, as a save from stale content would have.
    @discardableResult
    func addConflict(_ path: String, _ text: String, base: VersionID? = nil) throws -> Version {
        let item = try item(path)
        let current = try #require(try container.store.version(item.current))
        var version = current
        version.id = .random()
        version.kind = .conflict
        version.content = .random()
        version.size = UInt64(text.utf8.count)
        version.saved = clock.now()
        version.base = base
        version.hash = nil
        let source = "\(self.path)-loser"
        try text.write(toFile: source, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: source) }
        let file = try FileDescriptor.open(source, .readOnly)
        defer { try? file.close() }
        let label = ContentStore.Label(version: version, path: .root, place: try place(path))
        _ = try container.store.contents.keep(copying: file, as: version.content, label)
        container.store.commit([.version(version)])
        return version
    }
}

/// The errno that a request fails with; 0 if it does not.
func failure(_ body: () throws -> Void) -> Int32 {
    do {
        try body()
        return 0
    } catch let error as Errno {
        return error.rawValue
    } catch {
        return -1
    }
}
