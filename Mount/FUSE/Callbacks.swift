// The table of operations for libfuse: each entry decodes, calls the file system through one wrapper, and the wrapper
// answers exactly once, from the value or the error.

import CFuse3
import Glibc
import SystemPackage

/// Runs a handler and answers from what it returns or throws.
private func serve<Value>(
    _ raw: OpaquePointer?, answer: (Request, Driver, Value) -> Void,
    _ handler: (any FileSystem, Caller) throws(Errno) -> Value
) {
    guard let raw else { return }
    let request = Request(raw: raw)
    guard let driver = Driver.of(raw), let fileSystem = driver.fileSystem else {
        request.fail(.ioError)
        return
    }
    do {
        let value = try handler(fileSystem, request.caller)
        answer(request, driver, value)
    } catch {
        request.fail(error)
    }
}

/// The same for handlers that return nothing.
private func serve(_ raw: OpaquePointer?, _ handler: (any FileSystem, Caller) throws(Errno) -> Void) {
    serve(raw, answer: { request, _, _ in request.succeed() }, handler)
}

/// The same for handlers that name a node. If the kernel does not take the answer, it has no lookup to count.
private func serveEntry(_ raw: OpaquePointer?, _ handler: (any FileSystem, Caller) throws(Errno) -> Entry) {
    serve(
        raw,
        answer: { request, driver, entry in
            if !request.answer(entry) && entry.node != 0 { driver.fileSystem?.forget(entry.node, lookups: 1) }
        }, handler)
}

private func serveCount(_ raw: OpaquePointer?, _ handler: (any FileSystem, Caller) throws(Errno) -> Int) {
    serve(raw, answer: { request, _, count in request.answer(count: count) }, handler)
}

private func serveAttributes(
    _ raw: OpaquePointer?, _ handler: (any FileSystem, Caller) throws(Errno) -> NodeAttributes
) {
    serve(raw, answer: { request, _, attributes in request.answer(attributes) }, handler)
}

/// The bytes of a name, without its NUL.
private func bytes(_ name: UnsafePointer<CChar>?) -> [UInt8] {
    guard let name else { return [] }
    return Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
}

private func handle(_ info: UnsafeMutablePointer<fuse_file_info>?) -> Handle { info?.pointee.fh ?? 0 }

/// Room for an answer of `size` bytes in the lane of the calling thread.
private func replyBuffer(_ size: Int) throws(Errno) -> UnsafeMutableRawBufferPointer {
    guard let lane = Lane.current, size >= 0 else { throw .ioError }
    return UnsafeMutableRawBufferPointer(rebasing: lane.reply[..<min(size, lane.reply.count)])
}

/// The operations that the driver serves. libfuse answers the others with ENOSYS, and the kernel remembers that. Locks
/// are among the others, so the kernel keeps them itself.
func operations() -> fuse_lowlevel_ops {
    var table = fuse_lowlevel_ops()
    table.`init` = { _, connection in
        if let connection { Negotiation.prepare(&connection.pointee) }
    }
    addNames(&table)
    addAttributes(&table)
    addFiles(&table)
    addContent(&table)
    addDirectories(&table)
    return table
}

private func addNames(_ table: inout fuse_lowlevel_ops) {
    table.lookup = { request, parent, name in
        serveEntry(request) { (system, caller) throws(Errno) in
            try system.lookup(caller, parent: parent, name: bytes(name))
        }
    }
    table.forget = { request, node, lookups in
        guard let request else { return }
        Driver.of(request)?.fileSystem?.forget(node, lookups: lookups)
        fuse_reply_none(request)
    }
    table.forget_multi = { request, count, nodes in
        guard let request else { return }
        if let fileSystem = Driver.of(request)?.fileSystem {
            for forgotten in UnsafeBufferPointer(start: nodes, count: nodes == nil ? 0 : count) {
                fileSystem.forget(forgotten.ino, lookups: forgotten.nlookup)
            }
        }
        fuse_reply_none(request)
    }
    table.mknod = { request, parent, name, mode, device in
        serveEntry(request) { (system, caller) throws(Errno) in
            try system.makeNode(caller, parent: parent, name: bytes(name), mode: mode, device: device)
        }
    }
    table.mkdir = { request, parent, name, mode in
        serveEntry(request) { (system, caller) throws(Errno) in
            try system.makeDirectory(caller, parent: parent, name: bytes(name), mode: mode)
        }
    }
    table.symlink = { request, target, parent, name in
        serveEntry(request) { (system, caller) throws(Errno) in
            try system.makeSymlink(caller, parent: parent, name: bytes(name), target: bytes(target))
        }
    }
    table.link = { request, node, parent, name in
        serveEntry(request) { (system, caller) throws(Errno) in
            try system.link(caller, node: node, parent: parent, name: bytes(name))
        }
    }
    table.unlink = { request, parent, name in
        serve(request) { (system, caller) throws(Errno) in
            try system.unlink(caller, parent: parent, name: bytes(name))
        }
    }
    table.rmdir = { request, parent, name in
        serve(request) { (system, caller) throws(Errno) in
            try system.removeDirectory(caller, parent: parent, name: bytes(name))
        }
    }
    table.rename = { request, parent, name, newParent, newName, flags in
        serve(request) { (system, caller) throws(Errno) in
            try system.rename(
                caller, parent: parent, name: bytes(name), newParent: newParent, newName: bytes(newName), flags: flags)
        }
    }
}

private func addAttributes(_ table: inout fuse_lowlevel_ops) {
    table.getattr = { request, node, info in
        serveAttributes(request) { (system, caller) throws(Errno) in
            try system.attributes(caller, node: node, handle: info?.pointee.fh)
        }
    }
    table.setattr = { request, node, attributes, mask, info in
        serveAttributes(request) { (system, caller) throws(Errno) in
            guard let attributes else { throw .invalidArgument }
            return try system.setAttributes(
                caller, node: node, handle: info?.pointee.fh, AttributeChange(attributes.pointee, mask: mask))
        }
    }
    table.readlink = { request, node in
        serve(request, answer: { request, _, target in request.answer(target) }) {
            (system, caller) throws(Errno) -> [UInt8] in try system.readLink(caller, node: node)
        }
    }
    table.statfs = { request, node in
        serve(
            request,
            answer: { request, _, value in _ = withUnsafePointer(to: value) { fuse_reply_statfs(request.raw, $0) } }
        ) { (system, caller) throws(Errno) -> statvfs in try system.statistics(caller, node: node) }
    }
    table.getxattr = { request, node, name, size in
        serve(request, answer: { request, _, value in request.answer(value, within: size) }) {
            (system, caller) throws(Errno) -> [UInt8] in
            try system.extendedAttribute(caller, node: node, name: bytes(name), size: size)
        }
    }
    table.listxattr = { request, node, size in
        serve(request, answer: { request, _, names in request.answer(names, within: size) }) {
            (system, caller) throws(Errno) -> [UInt8] in try system.extendedAttributes(caller, node: node)
        }
    }
    table.setxattr = { request, node, name, value, size, flags in
        serve(request) { (system, caller) throws(Errno) in
            let value = UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : size)
            try system.setExtendedAttribute(caller, node: node, name: bytes(name), value: value, flags: flags)
        }
    }
    table.removexattr = { request, node, name in
        serve(request) { (system, caller) throws(Errno) in
            try system.removeExtendedAttribute(caller, node: node, name: bytes(name))
        }
    }
}

private func addFiles(_ table: inout fuse_lowlevel_ops) {
    table.open = { request, node, info in serveOpen(request, node: node, flags: info?.pointee.flags ?? 0) }
    table.create = { request, parent, name, mode, info in
        serve(
            request,
            answer: { request, driver, created in
                let layout = wire_create_out(
                    entry: wire_entry_out(created.entry), opened: wire_open_out(created.opened))
                if !request.answer(layout: layout) { driver.fileSystem?.takeBack(created) }
            }
        ) { (system, caller) throws(Errno) -> Created in
            var caller = caller
            caller.dropsSetID = (Lane.current?.body(wire_create_in.self)?.open_flags ?? 0) & KillFlag.open != 0
            return try system.create(
                caller, parent: parent, name: bytes(name), mode: mode, flags: info?.pointee.flags ?? 0)
        }
    }
    table.flush = { request, node, info in
        serve(request) { (system, caller) throws(Errno) in
            try system.flush(caller, node: node, handle: handle(info), lockOwner: info?.pointee.lock_owner ?? 0)
        }
    }
    table.release = { request, node, info in
        serve(request) { (system, _) throws(Errno) in system.release(node: node, handle: handle(info)) }
    }
    table.fsync = { request, node, dataOnly, info in
        serve(request) { (system, caller) throws(Errno) in
            try system.synchronize(caller, node: node, handle: handle(info), dataOnly: dataOnly != 0)
        }
    }
    table.ioctl = { request, node, command, _, info, flags, input, inputSize, outputSize in
        serve(
            request,
            answer: { request, _, output in
                _ = output.withUnsafeBytes {
                    fuse_reply_ioctl(request.raw, 0, $0.baseAddress, min($0.count, outputSize))
                }
            }
        ) { (system, caller) throws(Errno) -> [UInt8] in
            // The driver does not translate the structures of 32-bit programs.
            if flags & UInt32(bitPattern: FUSE_IOCTL_COMPAT) != 0 { throw .inappropriateIOCTLForDevice }
            return try system.control(
                caller, node: node, handle: handle(info), command: command,
                input: UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : inputSize),
                outputSize: outputSize)
        }
    }
}

private func addContent(_ table: inout fuse_lowlevel_ops) {
    table.read = { request, node, size, offset, info in
        serve(request, answer: { request, _, read in request.answer(read) }) {
            (system, caller) throws(Errno) -> UnsafeRawBufferPointer in
            let buffer = try replyBuffer(size)
            let count = try system.read(caller, node: node, handle: handle(info), into: buffer, offset: offset)
            return UnsafeRawBufferPointer(rebasing: buffer[..<max(0, min(count, buffer.count))])
        }
    }
    table.write = { request, node, data, size, offset, info in
        serveCount(request) { (system, caller) throws(Errno) in
            var caller = caller
            caller.dropsSetID = (Lane.current?.body(wire_write_in.self)?.write_flags ?? 0) & KillFlag.write != 0
            return try system.write(
                caller, node: node, handle: handle(info),
                UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size), offset: offset,
                flags: info?.pointee.flags ?? 0)
        }
    }
    table.fallocate = { request, node, mode, offset, length, info in
        serve(request) { (system, caller) throws(Errno) in
            try system.allocate(
                caller, node: node, handle: handle(info), mode: mode, offset: offset, length: length)
        }
    }
    table.lseek = { request, node, offset, whence, info in
        serve(request, answer: { request, _, found in _ = fuse_reply_lseek(request.raw, found) }) {
            (system, caller) throws(Errno) -> off_t in
            try system.seek(caller, node: node, handle: handle(info), offset: offset, whence: whence)
        }
    }
    table.copy_file_range = { request, node, offset, info, newNode, newOffset, newInfo, length, flags in
        serveCount(request) { (system, caller) throws(Errno) in
            try system.copyRange(
                caller, from: FileRange(node: node, handle: handle(info), offset: offset),
                to: FileRange(node: newNode, handle: handle(newInfo), offset: newOffset), length: length, flags: flags)
        }
    }
}

private func addDirectories(_ table: inout fuse_lowlevel_ops) {
    table.opendir = { request, node, _ in
        serve(
            request,
            answer: { request, driver, opened in
                let layout = wire_open_out(handle: opened.handle, flags: opened.flags.rawValue, backing: 0)
                if !request.answer(layout: layout) {
                    driver.fileSystem?.releaseDirectory(node: node, handle: opened.handle)
                }
            }
        ) { (system, caller) throws(Errno) -> OpenedDirectory in try system.openDirectory(caller, node: node) }
    }
    table.readdir = { request, node, size, offset, info in
        serveList(request, node: node, handle: handle(info), size: size, offset: offset, attributes: false)
    }
    table.readdirplus = { request, node, size, offset, info in
        serveList(request, node: node, handle: handle(info), size: size, offset: offset, attributes: true)
    }
    table.releasedir = { request, node, info in
        serve(request) { (system, _) throws(Errno) in system.releaseDirectory(node: node, handle: handle(info)) }
    }
    table.fsyncdir = { request, node, dataOnly, info in
        serve(request) { (system, caller) throws(Errno) in
            try system.synchronizeDirectory(caller, node: node, handle: handle(info), dataOnly: dataOnly != 0)
        }
    }
}

private func serveList(
    _ request: OpaquePointer?, node: NodeID, handle: Handle, size: Int, offset: off_t, attributes: Bool
) {
    serve(request, answer: { request, _, laidOut in request.answer(laidOut) }) {
        (system, caller) throws(Errno) -> UnsafeRawBufferPointer in
        let buffer = try replyBuffer(size)
        var listing = Listing(into: buffer, wantsAttributes: attributes)
        try system.list(caller, node: node, handle: handle, offset: offset, into: &listing)
        return UnsafeRawBufferPointer(rebasing: buffer[..<listing.used])
    }
}

extension AttributeChange {
    /// Reads SETATTR: the fields named in `mask`.
    fileprivate init(_ stat: stat, mask: Int32) {
        func names(_ bit: Int32) -> Bool { mask & bit != 0 }
        self.init()
        if names(FUSE_SET_ATTR_MODE) { mode = stat.st_mode }
        if names(FUSE_SET_ATTR_UID) { user = stat.st_uid }
        if names(FUSE_SET_ATTR_GID) { group = stat.st_gid }
        if names(FUSE_SET_ATTR_SIZE) { size = stat.st_size }
        if names(FUSE_SET_ATTR_ATIME) { accessed = names(FUSE_SET_ATTR_ATIME_NOW) ? .now : .at(stat.st_atim) }
        if names(FUSE_SET_ATTR_MTIME) { modified = names(FUSE_SET_ATTR_MTIME_NOW) ? .now : .at(stat.st_mtim) }
        dropsSetID = names(FUSE_SET_ATTR_KILL_SUID)
    }
}
