// The loopback's open files and directories.

@testable import FUSE
import CFuse3
import Glibc
import SystemPackage

extension Loopback {
    func open(_ caller: Caller, node: NodeID, flags: Int32, deferred: Deferred<Opened>) throws(Errno) -> Opened? {
        let held = state.with { state in
            guard state.nodes[node]?.held == true else { return false }
            state.held.append(HeldOpen(deferred: deferred, node: node, flags: flags))
            return true
        }
        if caller.dropsSetID { try dropSetID(node) }
        return held ? nil : try open(node, flags: flags)
    }

    private func dropSetID(_ node: NodeID) throws(Errno) {
        var status = stat()
        let path = try path(node)
        try check(stat(path, &status))
        try check(chmod(path, status.st_mode & 0o1777))
        state.with { $0.setIDDrops += 1 }
    }

    func open(_ node: NodeID, flags: Int32) throws(Errno) -> Opened {
        if usesPassthrough, let backing = try backing(node) {
            if flags & O_TRUNC != 0 { try check(truncate(try path(node), 0)) }
            return Opened(handle: 0, flags: [.passthrough, .noFlush], backing: backing)
        }
        let file = Glibc.open(try path(node), flags & ~(O_NOFOLLOW | O_CREAT | O_EXCL | O_APPEND) | O_CLOEXEC)
        try check(file)
        state.with { $0.openHandles += 1 }
        return Opened(handle: UInt64(file), flags: .keepCache)
    }

    /// The backing file's number, registered once per node.
    private func backing(_ node: NodeID) throws(Errno) -> Int32? {
        guard features?.passthrough == true else { return nil }
        if let known = state.with({ $0.nodes[node]?.backing }) { return known }
        let file = Glibc.open(try path(node), O_RDWR | O_CLOEXEC)
        try check(file)
        defer { close(file) }
        guard let fresh = try session?.register(backing: FileDescriptor(rawValue: file)) else { return nil }
        let (used, surplus) = state.with { state -> (Int32, Int32?) in
            if let other = state.nodes[node]?.backing { return (other, fresh) }
            state.nodes[node]?.backing = fresh
            return (fresh, nil)
        }
        if let surplus { session?.unregister(backing: surplus) }
        return used
    }

    func create(_ caller: Caller, parent: NodeID, name: [UInt8], mode: mode_t, flags: Int32) throws(Errno) -> Created {
        umask(caller.umask)
        let file = openat(try descriptor(parent), cString(name), flags & ~O_APPEND | O_CREAT | O_CLOEXEC, mode)
        try check(file)
        let entry = try entry(parent, name)
        return try created(entry, file, flags)
    }

    func createTemporary(_ caller: Caller, parent: NodeID, mode: mode_t, flags: Int32) throws(Errno) -> Created {
        umask(caller.umask)
        // O_TMPFILE includes O_DIRECTORY; the kernel sends the flags of the open.
        let file = openat(try descriptor(parent), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode)
        try check(file)
        let path = Glibc.open("/proc/self/fd/\(file)", O_PATH | O_CLOEXEC)
        guard path >= 0 else {
            close(file)
            throw Errno(rawValue: errno)
        }
        return try created(try entry(owning: path), file, O_RDWR)
    }

    private func created(_ entry: Entry, _ file: Int32, _ flags: Int32) throws(Errno) -> Created {
        guard usesPassthrough, features?.passthrough == true else {
            state.with { $0.openHandles += 1 }
            return Created(entry: entry, opened: Opened(handle: UInt64(file), flags: .keepCache))
        }
        close(file)
        return Created(entry: entry, opened: try open(entry.node, flags: flags & ~(O_TRUNC | O_CREAT)))
    }

    /// Runs `body` with a descriptor: the handle's own, or one opened for the purpose where data passes through.
    private func with<Value>(
        _ node: NodeID, _ handle: Handle, _ body: (Int32) throws(Errno) -> Value
    ) throws(Errno) -> Value {
        if handle != 0 { return try body(Int32(handle)) }
        let file = Glibc.open(try path(node), O_RDWR | O_CLOEXEC)
        try check(file)
        defer { close(file) }
        return try body(file)
    }

    func read(_ caller: Caller, node: NodeID, handle: Handle, into buffer: UnsafeMutableRawBufferPointer, offset: off_t)
        throws(Errno) -> Int
    {
        try with(node, handle) { file throws(Errno) in
            let count = pread(file, buffer.baseAddress, buffer.count, offset)
            try check(count)
            return count
        }
    }

    func write(
        _ caller: Caller, node: NodeID, handle: Handle, _ bytes: UnsafeRawBufferPointer, offset: off_t, flags: Int32
    ) throws(Errno) -> Int {
        try with(node, handle) { file throws(Errno) in
            if caller.dropsSetID { try dropSetID(node) }
            let count = pwrite(file, bytes.baseAddress, bytes.count, offset)
            try check(count)
            return count
        }
    }

    func flush(_ caller: Caller, node: NodeID, handle: Handle, lockOwner: UInt64) throws(Errno) {}

    func release(node: NodeID, handle: Handle) {
        guard handle != 0 else { return }
        close(Int32(handle))
        state.with { $0.openHandles -= 1 }
    }

    func synchronize(_ caller: Caller, node: NodeID, handle: Handle, dataOnly: Bool) throws(Errno) {
        try with(node, handle) { file throws(Errno) in try check(dataOnly ? fdatasync(file) : fsync(file)) }
    }

    func allocate(_ caller: Caller, node: NodeID, handle: Handle, mode: Int32, offset: off_t, length: off_t)
        throws(Errno)
    {
        try with(node, handle) { file throws(Errno) in
            try check(wire_allocate(file, mode, Int64(offset), Int64(length)))
        }
    }

    func seek(_ caller: Caller, node: NodeID, handle: Handle, offset: off_t, whence: Int32) throws(Errno) -> off_t {
        try with(node, handle) { file throws(Errno) in
            let found = lseek(file, offset, whence)
            try check(found)
            return found
        }
    }

    func copyRange(_ caller: Caller, from: FileRange, to: FileRange, length: Int, flags: Int32) throws(Errno) -> Int {
        throw .noFunction
    }

    // MARK: Directories

    func openDirectory(_ caller: Caller, node: NodeID) throws(Errno) -> OpenedDirectory {
        let file = openat(try descriptor(node), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try check(file)
        guard let stream = fdopendir(file) else {
            close(file)
            throw Errno(rawValue: errno)
        }
        defer { closedir(stream) }
        var names: [(name: [UInt8], inode: UInt64, type: UInt8)] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            names.append((name, UInt64(entry.pointee.d_ino), entry.pointee.d_type))
        }
        let handle = state.with { state in
            defer { state.nextDirectory += 1 }
            state.directories[state.nextDirectory] = names
            return state.nextDirectory
        }
        return OpenedDirectory(handle: handle, flags: [])
    }

    func list(_ caller: Caller, node: NodeID, handle: Handle, offset: off_t, into listing: inout Listing)
        throws(Errno)
    {
        guard let names = state.with({ $0.directories[handle] }) else { throw .badFileDescriptor }
        var position = Int(offset)
        while position < names.count {
            let (name, inode, type) = names[position]
            let dots = name == [46] || name == [46, 46]
            var fitted: Bool
            if listing.wantsAttributes && !dots {
                let entry = try entry(node, name)
                fitted = listing.add(name: name, entry: entry, nextOffset: off_t(position + 1))
                if !fitted { forget(entry.node, lookups: 1) }
            } else {
                fitted = listing.add(
                    name: name, node: inode, mode: mode_t(type) << 12, nextOffset: off_t(position + 1))
            }
            if !fitted { break }
            position += 1
        }
    }

    func releaseDirectory(node: NodeID, handle: Handle) { state.with { $0.directories[handle] = nil } }

    func synchronizeDirectory(_ caller: Caller, node: NodeID, handle: Handle, dataOnly: Bool) throws(Errno) {}

    func statistics(_ caller: Caller, node: NodeID) throws(Errno) -> statvfs {
        var value = statvfs()
        try check(fstatvfs(try descriptor(node), &value))
        return value
    }

    // MARK: Extended attributes

    func extendedAttribute(
        _ caller: Caller, node: NodeID, name: [UInt8], size: Int
    ) throws(Errno) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: 65536)
        let count = getxattr(try path(node), cString(name), &value, value.count)
        try check(count)
        return Array(value[..<count])
    }

    func extendedAttributes(_ caller: Caller, node: NodeID) throws(Errno) -> [UInt8] {
        var names = [CChar](repeating: 0, count: 65536)
        let count = listxattr(try path(node), &names, names.count)
        try check(count)
        return names[..<count].map { UInt8(bitPattern: $0) }
    }

    func setExtendedAttribute(
        _ caller: Caller, node: NodeID, name: [UInt8], value: UnsafeRawBufferPointer, flags: Int32
    ) throws(Errno) {
        try check(setxattr(try path(node), cString(name), value.baseAddress, value.count, flags))
    }

    func removeExtendedAttribute(_ caller: Caller, node: NodeID, name: [UInt8]) throws(Errno) {
        try check(removexattr(try path(node), cString(name)))
    }

    func control(
        _ caller: Caller, node: NodeID, handle: Handle, command: UInt32, input: UnsafeRawBufferPointer, outputSize: Int
    ) throws(Errno) -> [UInt8] { throw .inappropriateIOCTLForDevice }
}
