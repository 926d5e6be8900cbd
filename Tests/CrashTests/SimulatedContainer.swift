// A container without a kernel that can be made what a crash leaves of it, as often as one likes: the real disk takes
// seconds for what this does in milliseconds.

import CLinux
import Container
import CrashLoad
import Foundation
import Glibc
import Logging
import SystemPackage
import VersionModel

@testable import VersionStore

/// The crash has come: nothing more is done.
struct CrashCame: Error {}

/// Requests of one program, and what of their effects is on the disk. Names are durable at once and in order, as on a
/// file system with a log; what is written to files is not before fsync(2).
final class SimulatedContainer {
    let path: String
    /// Requests until the crash, and until the catalog reaches the disk for the last time before.
    var rest = Int.max
    var restOfCatalog = Int.max
    /// Closed handles whose release is on its way.
    private var late: [(node: UInt64, handle: UInt64)] = []
    /// What of files is on the disk, by inode, where that is not what they hold.
    private var durable: [ino_t: [UInt8]] = [:]
    private var catalog: [(name: String, bytes: Data)] = []
    private let caller = Caller(user: getuid(), group: getgid(), thread: getpid(), umask: 0o022)
    private let root: FileDescriptor
    private var container: LiveContainer
    private var dice: Dice
    private let logger: Logger

    init(_ path: String, _ dice: Dice) throws {
        self.path = path
        self.dice = dice
        var logger = Logger(label: "simulated")
        logger.logLevel = ProcessInfo.processInfo.environment["VERSIONSFS_KEEP"] == "1" ? .notice : .critical
        self.logger = logger
        root = try FileDescriptor.open(path, .readOnly, options: .directory)
        container = try Self.open(root, logger)
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
            return try opened(file, made.found.node, made.reply.handle, holds: [])
        }
        let inode = try status(file).st_ino
        let held = flags & O_TRUNC == 0 ? nil : [UInt8]()
        guard let found = try container.lookup(caller, parent: parent, name: name),
            let reply = try container.open(caller, node: found.node, flags: flags & ~O_CREAT)
        else { throw Errno.noSuchFileOrDirectory }
        if let held { durable[inode] = held }
        return Opened(node: found.node, handle: reply.handle, inode: inode, file: file)
    }

    private func opened(_ file: String, _ node: UInt64, _ handle: UInt64, holds: [UInt8]) throws -> Opened {
        let inode = try status(file).st_ino
        durable[inode] = holds
        return Opened(node: node, handle: handle, inode: inode, file: file)
    }

    func write(_ bytes: ArraySlice<UInt8>, _ file: Opened, at offset: Int) throws {
        try tick()
        noteChange(file)
        let count = try bytes.withUnsafeBytes {
            try container.write(caller, node: file.node, handle: file.handle, $0, offset: off_t(offset))
        }
        guard count == bytes.count else { throw Errno.ioError }
    }

    /// What the kernel passes through, or a mapping does.
    func writeUnseen(_ bytes: ArraySlice<UInt8>, _ file: Opened, at offset: Int) throws {
        try tick()
        noteChange(file)
        let descriptor = try FileDescriptor.open("\(path)/\(file.file)", .writeOnly)
        defer { try? descriptor.close() }
        try descriptor.writeAll(toAbsoluteOffset: Int64(offset), bytes)
    }

    private func noteChange(_ file: Opened) {
        if durable[file.inode] == nil { durable[file.inode] = Inspection.read("\(path)/\(file.file)") }
    }

    func truncate(_ file: Opened, to size: Int) throws {
        try tick()
        var edit = AttributeEdit()
        edit.size = off_t(size)
        _ = try container.setAttributes(caller, node: file.node, handle: file.handle, edit)
        if let held = durable[file.inode], held.count > size { durable[file.inode] = Array(held.prefix(size)) }
    }

    func synchronize(_ file: Opened) throws {
        try tick()
        try container.synchronize(node: file.node, handle: file.handle, dataOnly: false)
        durable[file.inode] = nil
    }

    func close(_ file: Opened) throws {
        try tick()
        container.flush(caller, handle: file.handle)
        late.append((file.node, file.handle))
    }

    func rename(_ file: String, to target: String) throws {
        try tick()
        let ((from, name), (to, newName)) = (try split(file), try split(target))
        try container.rename(caller, parent: from, name: name, newParent: to, newName: newName, flags: 0)
    }

    func unlink(_ file: String) throws {
        try tick()
        let (parent, name) = try split(file)
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
            guard let found = try container.lookup(caller, parent: parent, name: name) else { throw Errno.noSuchFileOrDirectory }
            parent = found.node
        }
        return (parent, names.last ?? [])
    }

    private func status(_ file: String) throws -> stat {
        var status = stat()
        guard lstat("\(path)/\(file)", &status) == 0 else { throw Errno(rawValue: errno) }
        return status
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

    private func state(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: "\(path)/.versionsfs/\(name)")) }

    // MARK: The crash

    /// Ends it all, makes the directory what is left, and opens and closes the container again.
    func crash(_ ending: Ending) throws {
        let redo = try state(RedoLog.name)
        container.close()
        late = []
        for (name, bytes) in catalog { try put(bytes, name) }
        try? FileManager.default.removeItem(atPath: "\(path)/.versionsfs/catalog.sqlite-shm")
        let rest = ending == .kill ? redo.count : [0, redo.count, Int.random(in: 0...redo.count, using: &dice)].randomElement(using: &dice) ?? 0
        try put(redo.prefix(rest), RedoLog.name)
        if ending == .powerCut { try losePages() }
        durable = [:]
        catalog = []
        container = try Self.open(root, logger)
        container.close()
    }

    /// For the next round.
    func reopen() throws { container = try Self.open(root, logger) }

    private func put(_ bytes: Data, _ name: String) throws {
        try bytes.write(to: URL(fileURLWithPath: "\(path)/.versionsfs/\(name)"))
    }

    /// Any part of what was not synchronised.
    private func losePages() throws {
        var seen: Set<ino_t> = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: path).sorted() {
            guard let status = try? status(file), status.st_mode & S_IFMT == S_IFREG, let old = durable[status.st_ino],
                seen.insert(status.st_ino).inserted, let new = Inspection.read("\(path)/\(file)")
            else { continue }
            let left = mixture(old, new)
            guard left != new else { continue }
            let descriptor = try FileDescriptor.open("\(path)/\(file)", .writeOnly)
            defer { try? descriptor.close() }
            try descriptor.writeAll(toAbsoluteOffset: 0, left)
            _ = ftruncate(descriptor.rawValue, left.count)
            // Times are in the log.
            _ = futimens(descriptor.rawValue, [status.st_atim, status.st_mtim])
        }
    }

    private func mixture(_ old: [UInt8], _ new: [UInt8]) -> [UInt8] {
        switch Int.random(in: 0..<4, using: &dice) {
        case 0: return old.count <= new.count ? old : new
        case 1: return new
        case 2:
            // It has grown so far.
            guard old.count <= new.count, old == Array(new.prefix(old.count)) else { return new }
            return Array(new.prefix(Int.random(in: old.count...new.count, using: &dice)))
        default:
            var result = new
            for start in stride(from: 0, to: new.count, by: 4096) where Bool.random(using: &dice) {
                for index in start..<min(start + 4096, new.count) { result[index] = index < old.count ? old[index] : 0 }
            }
            return result
        }
    }
}
