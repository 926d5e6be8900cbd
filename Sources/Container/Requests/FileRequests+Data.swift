// Reading and writing through open handles, over the engine.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension FileRequests {
    func openFile(_ handle: UInt64) throws(Errno) -> OpenFile {
        guard let file = serving.files[handle] else { throw .badFileDescriptor }
        return file
    }

    /// A descriptor for a call through a handle; the handle that readers share has none of its own.
    private func descriptor(_ node: UInt64, _ handle: UInt64) throws(Errno) -> SharedDescriptor {
        if handle != OpenFileTable.sharedReader { return try openFile(handle).descriptor }
        let node = try tree.node(node)
        guard node.isRegular || node.isDirectory else { throw .badFileDescriptor }
        return try tree.names.reading { () throws(Errno) in try tree.openOwn(node, flags: O_RDONLY) }
    }

    func read(
        node: UInt64, handle: UInt64, into buffer: UnsafeMutableRawBufferPointer, offset: off_t
    ) throws(Errno) -> Int {
        let descriptor = try descriptor(node, handle)
        leaveAccessTime(descriptor)
        return try Backing.check { pread(descriptor.raw, buffer.baseAddress, buffer.count, offset) }
    }

    /// Reads for a program count as accesses; from now on through this descriptor.
    private func leaveAccessTime(_ descriptor: SharedDescriptor) {
        guard descriptor.isForReading else { return }
        let flags = fcntl(descriptor.raw, F_GETFL)
        guard flags >= 0, flags & linux_O_NOATIME != 0 else { return }
        _ = fcntl(descriptor.raw, F_SETFL, flags & ~linux_O_NOATIME)
    }

    func write(
        _ caller: Caller, handle: UInt64, _ bytes: UnsafeRawBufferPointer, offset: off_t, flags: Int32?
    ) throws(Errno) -> Int {
        let file = try openFile(handle)
        if caller.dropsSetID { SetIDRule.drop(on: file.descriptor.raw, by: caller) }
        guard file.isWritable else { throw .badFileDescriptor }
        let flags = flags ?? file.flags
        // The kernel writes back what was stored through a mapping. What the close has acknowledged stays as it was.
        if flags & O_ACCMODE == O_RDONLY, engine.scene.handle(file.number)?.isClosed == true {
            try engine.seal(file.number)
        }
        return try changing(
            file, flags & O_APPEND == 0 ? inside(file) : nil, needing: Shortage(wanted: UInt64(bytes.count))
        ) { () throws(Errno) in
            try file.put(bytes, at: offset, flags)
        }
    }

    /// What a change inside a file means whose handle appends: a program can take O_APPEND away from it, and its
    /// mappings have none. nil if the handle writes inside anyhow.
    private func inside(_ file: OpenFile) -> Event? {
        file.flags & O_APPEND != 0 ? .write(file.number, isInside: true) : nil
    }

    /// Runs a change of a file through a handle.
    private func changing<Result>(
        _ file: OpenFile, _ event: Event? = nil, needing shortage: Shortage = Shortage(),
        _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        guard isKnown(file) else { return try engine.room.retrying(shortage) { (_) throws(Errno) in try body() } }
        var result: Result?
        try engine.perform(event ?? .write(file.number), needing: shortage) { () throws(Errno) in
            result = try body()
        }
        guard let result else { throw .ioError }
        return result
    }

    func allocate(
        _ caller: Caller, handle: UInt64, mode: Int32, offset: off_t, length: off_t
    ) throws(Errno) {
        let file = try openFile(handle)
        let lacking = Allocation.lacking(file.descriptor.raw, mode: mode, offset: offset, length: length)
        // Of another file system nothing is ours.
        if lacking > 0, !file.node.isForeign { try space.space.requireRoom(lacking, sizeToKeep: sizeToKeep(file)) }
        let shortage = Shortage(wanted: lacking, mustSucceed: true)
        try changing(file, mode != 0 ? inside(file) : nil, needing: shortage) { () throws(Errno) in
            // The kernel leaves it to us and does not say so (unlike for writes).
            if caller.user != 0 { SetIDRule.drop(on: file.descriptor.raw, by: caller) }
            _ = try Backing.check { linux_fallocate(file.descriptor.raw, mode, offset, length) }
        }
    }

    /// The size of the content that is copied before the file changes.
    private func sizeToKeep(_ file: OpenFile) -> UInt64 {
        guard let known = engine.scene.recall(file.node.file)?.file, !known.isKept, let held = known.holds,
            engine.scene.handle(file.number)?.saved != held
        else { return 0 }
        let size = unseen.kept.room(for: known.fingerprint.size)
        return unseen.kept.mayKeep(size: size) ? size : 0
    }

    func seek(node: UInt64, handle: UInt64, offset: off_t, whence: Int32) throws(Errno) -> off_t {
        let descriptor = try descriptor(node, handle)
        return try Backing.check { lseek(descriptor.raw, offset, whence) }
    }

    func copyRange(
        _ caller: Caller, from source: CopyEnd, to target: CopyEnd, length: Int
    ) throws(Errno) -> Int {
        let from = try descriptor(source.node, source.handle)
        leaveAccessTime(from)
        let file = try openFile(target.handle)
        return try changing(file, needing: Shortage(wanted: UInt64(length))) { () throws(Errno) in
            if caller.user != 0 { SetIDRule.drop(on: file.descriptor.raw, by: caller) }
            var (sourceOffset, targetOffset) = (source.offset, target.offset)
            return try Backing.check {
                linux_copy_file_range(from.raw, &sourceOffset, file.descriptor.raw, &targetOffset, length)
            }
        }
    }

    /// fsync(2) and fdatasync(2): no file is durable before what was kept of it. What a program has written becomes
    /// durable together with the record of its version (DESIGN 9).
    func synchronize(node: UInt64, handle: UInt64, dataOnly: Bool) throws(Errno) {
        let descriptor = try descriptor(node, handle)
        var hasSaved = false
        // A database synchronizes too often, and is captured when it is quiet.
        if let writer = writer(node, handle), !databases.isInPlace(writer) {
            hasSaved = try !engine.seal(writer.number, goesOn: true).facts.isEmpty
        }
        let isLabeled = tree.nodes[node].map { label($0, descriptor) } ?? false
        try store.contents.synchronizing { () throws(Errno) in
            _ = try Backing.check { dataOnly && !isLabeled ? fdatasync(descriptor.raw) : fsync(descriptor.raw) }
        }
        if hasSaved { recorded.facts.synchronize() }
    }

    /// A file that is about to be synchronized says which version it is: after a power cut no fact may tell of that, or
    /// of a longer one alone.
    /// - Returns: whether it says so.
    private func label(_ node: Node, _ descriptor: SharedDescriptor) -> Bool {
        guard node.isRegular, !node.isForeign, let name = tree.nodes.location(node).name,
            !databases.captures.isDatabase(Node.Name(parent: name.parent, name: name.name)),
            let row = try? engine.names(of: node.file).first, !engine.known.isUnpublished(row.place),
            let version = try? engine.current(of: row.document), version.content.file == node.file, !version.isImage,
            let stat = try? Backing.stat(descriptor.raw), stat.size == version.fingerprint.size,
            stat.modified == version.modified
        else { return false }
        let file = FileDescriptor(rawValue: descriptor.raw)
        if store.contents.labels(live: file).first?.row == version { return true }
        let parent = recorded.path(of: row)?.parent ?? .root
        let attributes = Attributes(held: descriptor.raw, stat)
        let label = Lineage.Label(version: version, at: row)
        guard let described = try? unseen.kept.described(label, attributes, in: parent) else { return false }
        return store.contents.label(live: file, described)
    }

    /// The writer whose changes are synchronized: the handle's, or any other one.
    private func writer(_ node: UInt64, _ handle: UInt64) -> OpenFile? {
        if let file = serving.files[handle], file.isWriter { return isKnown(file) ? file : nil }
        return tree.nodes[node]?.writers.first { isKnown($0) }
    }

    // MARK: Truncation

    /// truncate(2) and ftruncate(2).
    func resize(_ node: Node, _ handle: UInt64?, to size: off_t, by caller: Caller) throws(Errno) {
        let open = handle.flatMap { serving.files[$0] }
        // A program that works with a database has it open for reading, too.
        if open.map({ $0.flags & O_ACCMODE == O_WRONLY }) ?? true { databases.captures.captureAhead(node) }
        if let file = open, file.isWriter {
            let before = try Backing.stat(file.descriptor.raw).size
            let event: Event =
                if size == 0 { .empty(file.number) } else if size < before { .shorten(file.number) } else {
                    .write(file.number)
                }
            try changing(file, event) { () throws(Errno) in
                _ = try Backing.check { ftruncate(file.descriptor.raw, size) }
            }
            if size == 0, let claim = file.claim { serving.arbiter.truncated(claim, node, file.requester.actor) }
            return
        }
        let descriptor = try tree.names.reading { () throws(Errno) in
            try tree.openOwnByName(node, flags: O_RDWR)
        }
        guard !node.isForeign else { return try Self.truncate(descriptor, to: size) }
        let program = try recorded.program(caller)
        try recorded.repeating { () throws(Errno) in
            guard let name = tree.nodes.location(node).name,
                let entry = try recorded.entry(name.name, in: name.parent), entry.node === node
            else { throw Errno(rawValue: ESTALE) }
            let isLeftOut = try versioned.isLeftOut(entry)
            if isLeftOut || entry.stat.size == UInt64(clamping: size) { return try Self.truncate(descriptor, to: size) }
            let at = try recorded.adopt(entry)
            defer { recorded.files.letGo(at.file) }
            try staleWrites.refuse(program, at: at.place)
            try engine.perform(.truncate(program.number, at.place), [at]) { () throws(Errno) in
                try Self.truncate(descriptor, to: size)
            }
            try engine.perform(.save(program.number, at.place), [at])
            coordination.report([coordination.updating(node)], by: caller)
        }
    }

    private static func truncate(_ file: SharedDescriptor, to size: off_t) throws(Errno) {
        _ = try Backing.check { ftruncate(file.raw, size) }
    }
}
