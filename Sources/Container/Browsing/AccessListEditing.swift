// Access lists as the virtual files show them: the same people, with less.

/// Changes the permissions in a `system.posix_acl_access`: a version number, then entries of tag, permissions and id,
/// little-endian (linux/posix_acl_xattr.h).
enum AccessListEditing {
    /// The list with `change` applied to the permissions of each entry; nil for what is no whole list.
    static func changed(_ list: [UInt8], _ change: (UInt16) -> UInt16) -> [UInt8]? {
        guard list.count >= 4, (list.count - 4) % 8 == 0, list.starts(with: [2, 0, 0, 0]) else { return nil }
        var result = list
        for entry in stride(from: 4, to: list.count, by: 8) {
            let access = change(UInt16(list[entry + 2]) | UInt16(list[entry + 3]) << 8)
            result[entry + 2] = UInt8(truncatingIfNeeded: access)
            result[entry + 3] = UInt8(truncatingIfNeeded: access >> 8)
        }
        return result
    }

    static func withoutWriting(_ list: [UInt8]) -> [UInt8]? { changed(list) { $0 & ~2 } }
}
