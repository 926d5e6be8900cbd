// A caller's rights on a file by its mode and its access list: the kernel's rule, for callers on the socket.

import VersionModel

/// Whose rights count in an operation: the process at the other end of the control socket.
public struct Principal: Hashable, Sendable {
    public var user: UInt32
    /// What new files are given to; nil leaves them the daemon's.
    public var primaryGroup: UInt32?
    /// The primary and the supplementary groups.
    public var groups: Set<UInt32>
    /// 0 if it is unknown here.
    public var process: Int32

    public init(user: UInt32, primaryGroup: UInt32? = nil, groups: Set<UInt32> = [], process: Int32 = 0) {
        self.user = user
        self.primaryGroup = primaryGroup
        self.groups = groups.union(primaryGroup.map { [$0] } ?? [])
        self.process = process
    }

    public var isRoot: Bool { user == 0 }

    /// The container's own work: with all rights, and without a process.
    static let container = Principal(user: 0)
}

/// The rule of acl(5), "Access check algorithm"; without an access list that of path_resolution(7).
public enum AccessRule {
    /// What is asked for; the bits of a permission triplet.
    public struct Access: OptionSet, Hashable, Sendable {
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        public static let execute = Access(rawValue: 1)
        public static let write = Access(rawValue: 2)
        public static let read = Access(rawValue: 4)
    }

    /// Whether the rights suffice. Root has all rights (operations need no right for which root would need the x bit).
    /// An unreadable list gives rights only to root and, as far as the mode allows, to the owner.
    public static func allows(_ wanted: Access, to principal: Principal, on file: Attributes) -> Bool {
        if principal.isRoot { return true }
        let triplets = (owner: triplet(file.mode >> 6), group: triplet(file.mode >> 3), other: triplet(file.mode))
        if principal.user == file.owner { return triplets.owner.isSuperset(of: wanted) }
        guard let bytes = file.accessList, !bytes.isEmpty else {
            let granted = principal.groups.contains(file.group) ? triplets.group : triplets.other
            return granted.isSuperset(of: wanted)
        }
        guard let list = AccessList(bytes) else { return false }
        return list.allows(wanted, to: principal, group: file.group)
    }

    private static func triplet(_ bits: UInt32) -> Access { Access(rawValue: UInt16(truncatingIfNeeded: bits & 7)) }
}

/// A decoded `system.posix_acl_access`: version 2, then entries of tag, permissions and id, little-endian
/// (linux/posix_acl_xattr.h).
struct AccessList: Hashable {
    struct Entry: Hashable {
        var tag: Tag
        var access: AccessRule.Access
        var id: UInt32
    }

    enum Tag: UInt16 {
        case owner = 1, user = 2, owningGroup = 4, group = 8, mask = 16, other = 32
    }

    let entries: [Entry]

    /// Nil for anything but a whole list.
    init?(_ bytes: [UInt8]) {
        func number(_ offset: Int, _ count: Int) -> UInt32 {
            (0..<count).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) }
        }
        guard bytes.count >= 4, (bytes.count - 4) % 8 == 0, number(0, 4) == 2 else { return nil }
        var entries: [Entry] = []
        for offset in stride(from: 4, to: bytes.count, by: 8) {
            guard let tag = Tag(rawValue: UInt16(truncatingIfNeeded: number(offset, 2))) else { return nil }
            let access = AccessRule.Access(rawValue: UInt16(truncatingIfNeeded: number(offset + 2, 2) & 7))
            entries.append(Entry(tag: tag, access: access, id: number(offset + 4, 4)))
        }
        self.entries = entries
    }

    /// The rights of a principal other than the owner.
    func allows(_ wanted: AccessRule.Access, to principal: Principal, group: UInt32) -> Bool {
        let mask = entries.first { $0.tag == .mask }?.access ?? [.read, .write, .execute]
        if let entry = entries.first(where: { $0.tag == .user && $0.id == principal.user }) {
            return entry.access.intersection(mask).isSuperset(of: wanted)
        }
        let groups = entries.filter { entry in
            entry.tag == .owningGroup && principal.groups.contains(group)
                || entry.tag == .group && principal.groups.contains(entry.id)
        }
        if !groups.isEmpty {
            return groups.contains { $0.access.intersection(mask).isSuperset(of: wanted) }
        }
        return entries.first { $0.tag == .other }?.access.isSuperset(of: wanted) ?? false
    }
}
