// A file system for tests: shows a directory as it is, with descriptors for nodes, and lets a test hold opens back.

import CFuse3
@testable import FUSE
import Glibc
import Synchronization
import SystemPackage

/// Serves the directory `root`. Opens of names that begin with `held` are put into ``held`` for the test to answer.
final class Loopback: FileSystem {
    struct Node {
        /// O_PATH.
        var descriptor: Int32
        var lookups: UInt64
        var key: Key
        var held: Bool
        var backing: Int32?
    }
    struct Key: Hashable {
        var device: UInt64
        var inode: UInt64
    }
    struct HeldOpen: Sendable {
        var deferred: Deferred<Opened>
        var node: NodeID
        var flags: Int32
    }
    struct State {
        var nodes: [NodeID: Node] = [:]
        var ids: [Key: NodeID] = [:]
        var next: NodeID = 2
        var held: [HeldOpen] = []
        var session: (any Session)?
        var features: Features?
        var directories: [Handle: [(name: [UInt8], inode: UInt64, type: UInt8)]] = [:]
        var nextDirectory: Handle = 1
        var openHandles = 0
        /// Opens and writes whose caller may not keep set-id bits.
        var setIDDrops = 0
        /// How many look-ups of names that begin with `slow` are at work, and whether they may end.
        var slow = 0
        var slowMayGo = false
    }
    let state = Monitor(State())
    let usesPassthrough: Bool

    init(root: FilePath, usesPassthrough: Bool) throws(Errno) {
        self.usesPassthrough = usesPassthrough
        let descriptor = Glibc.open(root.string, O_PATH | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        state.with {
            $0.nodes[1] = Node(
                descriptor: descriptor, lookups: 1, key: Key(device: 0, inode: 0), held: false)
        }
    }

    deinit { state.with { for node in $0.nodes.values { close(node.descriptor) } } }

    var features: Features? { state.with { $0.features } }
    var session: (any Session)? { state.with { $0.session } }

    /// The next open that waits to be answered.
    func nextHeld() -> HeldOpen {
        state.wait { $0.held.isEmpty ? nil : $0.held.removeFirst() }
    }

    func started(_ session: any Session, features: Features) {
        state.with {
            $0.session = session
            $0.features = features
        }
    }

    // MARK: Nodes

    func check(_ result: Int) throws(Errno) { if result < 0 { throw Errno(rawValue: errno) } }
    func check(_ result: Int32) throws(Errno) { try check(Int(result)) }

    func descriptor(_ node: NodeID) throws(Errno) -> Int32 {
        guard let found = state.with({ $0.nodes[node]?.descriptor }) else { throw .staleNFSFileHandle }
        return found
    }

    func path(_ node: NodeID) throws(Errno) -> String { "/proc/self/fd/\(try descriptor(node))" }

    func cString(_ name: [UInt8]) -> [CChar] { name.map { CChar(bitPattern: $0) } + [0] }

    func entry(_ parent: NodeID, _ name: [UInt8]) throws(Errno) -> Entry {
        let descriptor = openat(try descriptor(parent), cString(name), O_PATH | O_NOFOLLOW | O_CLOEXEC)
        try check(descriptor)
        return try entry(owning: descriptor, held: name.starts(with: Array("held".utf8)))
    }

    func entry(owning descriptor: Int32, held: Bool = false) throws(Errno) -> Entry {
        var status = stat()
        guard fstatat(descriptor, "", &status, AT_EMPTY_PATH) == 0 else {
            close(descriptor)
            throw Errno(rawValue: errno)
        }
        let key = Key(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        let id = state.with { state in
            if let known = state.ids[key] {
                state.nodes[known]?.lookups += 1
                close(descriptor)
                return known
            }
            defer { state.next += 1 }
            state.nodes[state.next] = Node(descriptor: descriptor, lookups: 1, key: key, held: held)
            state.ids[key] = state.next
            return state.next
        }
        return Entry(
            node: id, generation: 0, attributes: NodeAttributes(stat: status, valid: 60), entryValid: 60)
    }

    func lookup(_ caller: Caller, parent: NodeID, name: [UInt8]) throws(Errno) -> Entry {
        if name.starts(with: Array("slow".utf8)) {
            state.with { $0.slow += 1 }
            state.wait { $0.slowMayGo ? () : nil }
        }
        do throws(Errno) { return try entry(parent, name) } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
            return Entry(
                node: 0, generation: 0, attributes: NodeAttributes(stat: stat(), valid: 0), entryValid: 60)
        }
    }

    func forget(_ node: NodeID, lookups: UInt64) {
        let gone = state.with { state -> Node? in
            guard node != 1, var found = state.nodes[node] else { return nil }
            found.lookups -= min(lookups, found.lookups)
            state.nodes[node] = found.lookups == 0 ? nil : found
            if found.lookups == 0 { state.ids[found.key] = nil }
            return found.lookups == 0 ? found : nil
        }
        guard let gone else { return }
        close(gone.descriptor)
        if let backing = gone.backing { session?.unregister(backing: backing) }
    }

    func attributes(_ caller: Caller, node: NodeID, handle: Handle?) throws(Errno) -> NodeAttributes {
        var status = stat()
        try check(fstatat(try descriptor(node), "", &status, AT_EMPTY_PATH))
        return NodeAttributes(stat: status, valid: 60)
    }

    func setAttributes(_ caller: Caller, node: NodeID, handle: Handle?, _ change: AttributeChange) throws(Errno)
        -> NodeAttributes
    {
        let path = try path(node)
        if let mode = change.mode { try check(chmod(path, mode)) }
        if change.user != nil || change.group != nil {
            try check(chown(path, change.user ?? uid_t.max, change.group ?? gid_t.max))
        }
        if let size = change.size { try check(truncate(path, size)) }
        if change.accessed != nil || change.modified != nil {
            func time(_ time: AttributeChange.Time?) -> timespec {
                switch time {
                case .none: timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
                case .now: timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1)
                case .at(let moment): moment
                }
            }
            let times = [time(change.accessed), time(change.modified)]
            try check(utimensat(AT_FDCWD, path, times, 0))
        }
        return try attributes(caller, node: node, handle: handle)
    }

    // MARK: Names

    func readLink(_ caller: Caller, node: NodeID) throws(Errno) -> [UInt8] {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlinkat(try descriptor(node), "", &buffer, buffer.count)
        try check(count)
        return buffer[..<count].map { UInt8(bitPattern: $0) }
    }

    func makeNode(_ caller: Caller, parent: NodeID, name: [UInt8], mode: mode_t, device: dev_t) throws(Errno)
        -> Entry
    {
        umask(caller.umask)
        try check(mknodat(try descriptor(parent), cString(name), mode, device))
        return try entry(parent, name)
    }

    func makeDirectory(_ caller: Caller, parent: NodeID, name: [UInt8], mode: mode_t) throws(Errno) -> Entry {
        umask(caller.umask)
        try check(mkdirat(try descriptor(parent), cString(name), mode))
        return try entry(parent, name)
    }

    func makeSymlink(_ caller: Caller, parent: NodeID, name: [UInt8], target: [UInt8]) throws(Errno) -> Entry {
        try check(symlinkat(cString(target), try descriptor(parent), cString(name)))
        return try entry(parent, name)
    }

    func link(_ caller: Caller, node: NodeID, parent: NodeID, name: [UInt8]) throws(Errno) -> Entry {
        try check(linkat(AT_FDCWD, try path(node), try descriptor(parent), cString(name), AT_SYMLINK_FOLLOW))
        return try entry(parent, name)
    }

    func unlink(_ caller: Caller, parent: NodeID, name: [UInt8]) throws(Errno) {
        try check(unlinkat(try descriptor(parent), cString(name), 0))
    }

    func removeDirectory(_ caller: Caller, parent: NodeID, name: [UInt8]) throws(Errno) {
        try check(unlinkat(try descriptor(parent), cString(name), AT_REMOVEDIR))
    }

    func rename(
        _ caller: Caller, parent: NodeID, name: [UInt8], newParent: NodeID, newName: [UInt8], flags: UInt32
    ) throws(Errno) {
        guard flags == 0 else { throw .invalidArgument }
        try check(renameat(try descriptor(parent), cString(name), try descriptor(newParent), cString(newName)))
    }
}
