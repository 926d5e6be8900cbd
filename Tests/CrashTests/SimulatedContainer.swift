// A container without a kernel that can be made what a crash leaves of it, as often as one likes: the real disk takes
// seconds for what this does in milliseconds.

import CLinux
import Container
import CrashLoad
import Crypto
import Foundation
import Glibc
import Logging
import Support
import Synchronization
import SystemPackage

@testable import VersionModel
@testable import VersionStore

/// The crash has come: nothing more is done.
struct CrashCame: Error {}

/// Requests of one program, and what of their effects is on the disk. Names are durable at once and in order, as on a
/// file system with a log; what is written to files is not before fsync(2).
final class SimulatedContainer {
    let path: String
    private static let keeps = ProcessInfo.processInfo.environment["VERSIONSFS_KEEP"] == "1"
    /// Requests until the crash, and until the catalog reaches the disk for the last time before.
    var rest = Int.max
    var restOfCatalog = Int.max
    /// Closed handles whose release is on its way.
    private var late: [(node: UInt64, handle: UInt64)] = []
    private let pages = UnwrittenPages()
    private var catalog: [(name: String, bytes: Data)] = []
    private let caller = Caller(user: getuid(), group: getgid(), thread: getpid(), umask: 0o022)
    private let root: FileDescriptor
    private var container: LiveContainer
    private var dice: Dice
    private let logger: Logger

    init(_ path: String, _ dice: Dice, passesThrough: Bool = false) throws {
        self.path = path
        self.dice = dice
        var dice = dice
        RandomBits.repeat(from: dice.next())
        var logger = Logger(label: "simulated")
        logger.logLevel = Self.keeps ? .notice : .critical
        self.logger = logger
        root = try FileDescriptor.open(path, .readOnly, options: .directory)
        container = try Self.open(root, logger)
        if passesThrough { container.connect(PassingKernel()) }
    }

    deinit {
        container.close()
        try? root.close()
    }

    private static func open(_ root: FileDescriptor, _ logger: Logger) throws -> LiveContainer {
        let store = try VersionStore(root: root, options: .init(clock: SystemClock(), logger: logger))
        return try LiveContainer(
            root: root, store: store,
            options: .init(clock: SystemClock(), logger: logger, settings: Settings(), servesOthers: false))
    }

    // MARK: Requests

    /// An open file.
    struct Opened {
        var node: UInt64
        var handle: UInt64
        var inode: ino_t
        var file: String
    }

    func open(_ file: String, _ flags: Int32) throws -> Opened {
        try tick()
        let (parent, name) = try split(file)
        if flags & O_CREAT != 0, try container.lookup(caller, parent: parent, name: name) == nil {
            let made = try container.create(caller, parent: parent, name: name, mode: 0o644, flags: flags)
            let inode = try pages.inode(of: "\(path)/\(file)")
            pages.begin(inode, with: [])
            return Opened(node: made.found.node, handle: made.reply.handle, inode: inode, file: file)
        }
        let inode = try pages.inode(of: "\(path)/\(file)")
        guard let found = try container.lookup(caller, parent: parent, name: name),
            let reply = try container.open(caller, node: found.node, flags: flags & ~O_CREAT)
        else { throw Errno.noSuchFileOrDirectory }
        if flags & O_TRUNC != 0 { pages.begin(inode, with: []) }
        return Opened(node: found.node, handle: reply.handle, inode: inode, file: file)
    }

    func write(_ bytes: ArraySlice<UInt8>, _ file: Opened, at offset: Int) throws {
        try tick()
        pages.willChange(file.inode)
        let count = try bytes.withUnsafeBytes {
            try container.write(caller, node: file.node, handle: file.handle, $0, offset: off_t(offset))
        }
        guard count == bytes.count else { throw Errno.ioError }
    }

    /// What the kernel passes through, or a mapping does.
    func writeUnseen(_ bytes: ArraySlice<UInt8>, _ file: Opened, at offset: Int) throws {
        try tick()
        pages.willChange(file.inode)
        let descriptor = try FileDescriptor.open("\(path)/\(file.file)", .writeOnly)
        defer { try? descriptor.close() }
        try descriptor.writeAll(toAbsoluteOffset: Int64(offset), bytes)
    }

    func truncate(_ file: Opened, to size: Int) throws {
        try tick()
        var edit = AttributeEdit()
        edit.size = off_t(size)
        _ = try container.setAttributes(caller, node: file.node, handle: file.handle, edit)
        pages.truncated(file.inode, to: size)
    }

    /// truncate(2): without opening it.
    func truncate(_ file: String, to size: Int) throws {
        try tick()
        let (parent, name) = try split(file)
        guard let found = try container.lookup(caller, parent: parent, name: name) else {
            throw Errno.noSuchFileOrDirectory
        }
        let inode = try pages.inode(of: "\(path)/\(file)")
        var edit = AttributeEdit()
        edit.size = off_t(size)
        _ = try container.setAttributes(caller, node: found.node, handle: nil, edit)
        pages.truncated(inode, to: size)
    }

    func synchronize(_ file: Opened) throws {
        try tick()
        try container.synchronize(node: file.node, handle: file.handle, dataOnly: false)
        pages.synchronized(file.inode)
    }

    func close(_ file: Opened) throws {
        try tick()
        container.flush(caller, handle: file.handle)
        late.append((file.node, file.handle))
    }

    func rename(_ file: String, to target: String) throws {
        try tick()
        let ((from, name), (to, newName)) = (try found(file), try found(target))
        try container.rename(caller, parent: from, name: name, newParent: to, newName: newName, flags: 0)
    }

    func exchange(_ file: String, with other: String) throws {
        try tick()
        let ((from, name), (to, newName)) = (try found(file), try found(other))
        try container.rename(
            caller, parent: from, name: name, newParent: to, newName: newName, flags: linux_RENAME_EXCHANGE)
    }

    /// Brings back what was unlinked last under a name.
    func undelete(_ file: String) throws {
        try tick()
        _ = try container.undelete(try container.deletion(at: path(file), as: principal), as: principal)
    }

    /// Makes an older content current again, if there is a version of it.
    ///
    /// - Returns: what is to be done; nil if there is none.
    func restoring(_ file: String, to content: Content) throws -> (() throws -> Void)? {
        let document = try container.document(at: path(file), as: principal)
        let hash = Array(SHA256.hash(data: content.bytes))
        guard let version = document.versions.first(where: { $0.hash == hash && $0.kind != .current }) else {
            return nil
        }
        return { [self] in
            try tick()
            _ = try container.restore(version, of: document, as: principal)
        }
    }

    private var principal: Principal { Principal(user: getuid(), primaryGroup: getgid(), process: getpid()) }

    private func path(_ file: String) -> TreePath {
        file.split(separator: "/").reduce(.root) { path, name in
            FileName(String(name)).map { path.appending($0) } ?? path
        }
    }

    func unlink(_ file: String) throws {
        try tick()
        let (parent, name) = try found(file)
        try container.unlink(caller, parent: parent, name: name)
    }

    func makeDirectory(_ file: String) throws {
        try tick()
        let (parent, name) = try split(file)
        guard try container.lookup(caller, parent: parent, name: name) == nil else { return }
        _ = try container.makeDirectory(caller, parent: parent, name: name, mode: 0o755)
    }

    private func split(_ file: String) throws -> (UInt64, [UInt8]) {
        let names = file.split(separator: "/").map { Array($0.utf8) }
        var parent = LiveContainer.rootNode
        for name in names.dropLast() {
            guard let found = try container.lookup(caller, parent: parent, name: name) else {
                throw Errno.noSuchFileOrDirectory
            }
            parent = found.node
        }
        return (parent, names.last ?? [])
    }

    /// The kernel looks up whatever it asks to be renamed, or renamed over, or removed.
    private func found(_ file: String) throws -> (UInt64, [UInt8]) {
        let (parent, name) = try split(file)
        _ = try container.lookup(caller, parent: parent, name: name)
        return (parent, name)
    }

    /// Between two requests: releases come when they come, and so do the catalog's end and the crash.
    private func tick() throws {
        while !late.isEmpty, Bool.random(using: &dice) {
            let (node, handle) = late.remove(at: Int.random(in: late.indices, using: &dice))
            container.release(node: node, handle: handle)
        }
        restOfCatalog -= 1
        if restOfCatalog == 0 {
            container.store.flush()
            catalog = try ["catalog.sqlite", "catalog.sqlite-wal"].map { ($0, try state($0)) }
        }
        rest -= 1
        if rest <= 0 { throw CrashCame() }
    }

    private func state(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: "\(path)/.versionsfs/\(name)"))
    }

    // MARK: The crash

    /// Ends it all, makes the directory what is left, and opens and closes the container again.
    func crash(_ ending: Ending) throws {
        let redo = try state(RedoLog.name)
        // Without an end of the container: nobody seals what is open.
        container.store.close()
        late = []
        for (name, bytes) in catalog { try put(bytes, name) }
        try? FileManager.default.removeItem(atPath: "\(path)/.versionsfs/catalog.sqlite-shm")
        // Behind the records there is room that was allocated in advance.
        let length = redo.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        let part = Int.random(in: 0...length, using: &dice)
        let rest = ending == .kill ? redo.count : [0, redo.count, part].randomElement(using: &dice) ?? 0
        try put(redo.prefix(rest), RedoLog.name)
        if ending == .powerCut { try pages.lose(&dice) }
        pages.forget()
        if Self.keeps {
            // As it was before the container was opened again.
            _ = try mustRun("rm", ["-rf", "\(path).before"])
            _ = try mustRun("cp", ["-a", path, "\(path).before"])
        }
        catalog = []
        container = try Self.open(root, logger)
        container.close()
    }

    /// The findings of a check.
    func problems() -> [String] {
        do { return try container.store.check(repair: false).map { "\($0)" } } catch { return ["\(error)"] }
    }

    /// An orderly end.
    func end() { container.close() }

    /// For the next round.
    func reopen() throws { container = try Self.open(root, logger) }

    private func put(_ bytes: Data, _ name: String) throws {
        try bytes.write(to: URL(fileURLWithPath: "\(path)/.versionsfs/\(name)"))
    }
}

/// A kernel that passes reads and writes through, unseen.
private final class PassingKernel: KernelSide {
    private let last = Atomic<Int32>(0)

    var passesThrough: Bool { true }
    func register(backing descriptor: Int32) throws(Errno) -> Int32 { last.add(1, ordering: .relaxed).newValue }
    func unregister(backing: Int32) {}
    func invalidate(entry name: [UInt8], in directory: UInt64) {}
    func invalidate(node: UInt64, data: Bool) {}
    func awaitNames(of directory: UInt64) {}
}
