// The most frequent requests, served without libfuse. For some of them libfuse's own work (a request object, a list
// under a lock, a passed-on answer) costs as much as the rest.

import CFuse3
import Glibc
import SystemPackage

extension Driver {
    /// Serves a request whose message is complete; false if libfuse must serve it.
    func serveDirectly(_ header: wire_header_in, _ lane: Lane) -> Bool {
        guard let fileSystem else { return false }
        let caller = Caller(user: header.user, group: header.group, thread: pid_t(bitPattern: header.thread))
        switch header.opcode {
        case Opcode.lookup: lookUp(fileSystem, caller, header, lane)
        case Opcode.attributes: tellAttributes(fileSystem, caller, header, lane)
        case Opcode.extendedAttribute: tellExtendedAttribute(fileSystem, caller, header, lane)
        case Opcode.create: create(fileSystem, caller, header, lane)
        case Opcode.flush:
            guard let body = lane.body(wire_flush_in.self) else { return false }
            answer(header) { () throws(Errno) in
                try fileSystem.flush(caller, node: header.node, handle: body.handle, lockOwner: body.lock_owner)
            }
        case Opcode.release:
            guard let handle = lane.body(UInt64.self) else { return false }
            answer(header) { () throws(Errno) in fileSystem.release(node: header.node, handle: handle) }
        case Opcode.unlink:
            answer(header) { () throws(Errno) in
                try fileSystem.unlink(caller, parent: header.node, name: lane.name(behind: 0))
            }
        case Opcode.rename, Opcode.renameWithFlags: rename(fileSystem, caller, header, lane)
        default: return false
        }
        return true
    }

    private func lookUp(
        _ fileSystem: any FileSystem, _ caller: Caller, _ header: wire_header_in, _ lane: Lane
    ) {
        do throws(Errno) {
            let entry = try fileSystem.lookup(caller, parent: header.node, name: lane.name(behind: 0))
            // If the kernel did not take the answer, the lookup does not count.
            if !send(layout: wire_entry_out(entry), to: header.unique), entry.node != 0 {
                fileSystem.forget(entry.node, lookups: 1)
            }
        } catch { send(error: error, to: header.unique) }
    }

    private func tellAttributes(
        _ fileSystem: any FileSystem, _ caller: Caller, _ header: wire_header_in, _ lane: Lane
    ) {
        do throws(Errno) {
            guard let body = lane.body(wire_getattr_in.self) else { throw .invalidArgument }
            // FUSE_GETATTR_FH
            let handle = body.flags & 1 != 0 ? body.handle : nil
            let attributes = try fileSystem.attributes(caller, node: header.node, handle: handle)
            _ = send(layout: wire_attributes_out(attributes), to: header.unique)
        } catch { send(error: error, to: header.unique) }
    }

    private func tellExtendedAttribute(
        _ fileSystem: any FileSystem, _ caller: Caller, _ header: wire_header_in, _ lane: Lane
    ) {
        do throws(Errno) {
            guard let size = lane.body(UInt32.self) else { throw .invalidArgument }
            let value = try fileSystem.extendedAttribute(
                caller, node: header.node, name: lane.name(behind: 8), size: Int(size))
            if size == 0 {
                _ = send(layout: UInt64(value.count), to: header.unique)
            } else if value.count > size {
                throw .outOfRange
            } else {
                _ = value.withUnsafeBytes { send($0, to: header.unique) }
            }
        } catch { send(error: error, to: header.unique) }
    }

    private func create(
        _ fileSystem: any FileSystem, _ caller: Caller, _ header: wire_header_in, _ lane: Lane
    ) {
        do throws(Errno) {
            guard let body = lane.body(wire_create_in.self) else { throw .invalidArgument }
            var caller = caller
            caller.umask = body.umask
            caller.dropsSetID = body.open_flags & KillFlag.open != 0
            let name = lane.name(behind: MemoryLayout<wire_create_in>.size)
            let created = try fileSystem.create(
                caller, parent: header.node, name: name, mode: body.mode, flags: Int32(bitPattern: body.flags))
            let reply = wire_create_out(entry: wire_entry_out(created.entry), opened: wire_open_out(created.opened))
            if !send(layout: reply, to: header.unique) { fileSystem.takeBack(created) }
        } catch { send(error: error, to: header.unique) }
    }

    private func rename(
        _ fileSystem: any FileSystem, _ caller: Caller, _ header: wire_header_in, _ lane: Lane
    ) {
        answer(header) { () throws(Errno) in
            let hasFlags = header.opcode == Opcode.renameWithFlags
            let (start, flags) = hasFlags ? (16, lane.body(wire_rename_in.self)?.flags ?? 0) : (8, 0)
            guard let target = lane.body(UInt64.self) else { throw .invalidArgument }
            let name = lane.name(behind: start)
            try fileSystem.rename(
                caller, parent: header.node, name: name, newParent: target,
                newName: lane.name(behind: start + name.count + 1), flags: flags)
        }
    }

    /// Runs a handler without a result, and answers.
    private func answer(_ header: wire_header_in, _ body: () throws(Errno) -> Void) {
        do throws(Errno) {
            try body()
            _ = send(UnsafeRawBufferPointer(start: nil, count: 0), to: header.unique)
        } catch { send(error: error, to: header.unique) }
    }

    private func send(layout: some BitwiseCopyable, to unique: UInt64) -> Bool {
        withUnsafeBytes(of: layout) { send($0, to: unique) }
    }
}

extension Lane {
    /// The name at this offset behind the header, up to the NUL that ``RequestShape`` has found.
    fileprivate func name(behind offset: Int) -> [UInt8] {
        let start = min(message.count, MemoryLayout<wire_header_in>.size + offset)
        let rest = UnsafeRawBufferPointer(rebasing: message[start...])
        guard let first = rest.baseAddress else { return [] }
        return Array(UnsafeRawBufferPointer(rebasing: rest[..<strnlen(first, rest.count)]))
    }
}
