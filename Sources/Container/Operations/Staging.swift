// Files in the making: written whole in the state's staging directory, then put under their names in one step.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

/// A file in staging; removed unless it was put in place.
final class StagedFile {
    let directory: SharedDescriptor
    let name: [UInt8]
    let file: SharedDescriptor
    private var isPlaced = false

    /// An empty file that no other process may open.
    init(in state: FileDescriptor) throws(Errno) {
        directory = SharedDescriptor(
            try Backing.open(path: "staging", in: state.rawValue, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
        name = Array("\(ContentID.random().hex).new".utf8)
        file = SharedDescriptor(
            try Backing.open(name, in: directory.raw, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600))
    }

    deinit { if !isPlaced { try? Backing.unlink(name, in: directory.raw) } }

    /// Puts the file under its name.
    func place(_ newName: FileName, in newDirectory: SharedDescriptor, replacing: Bool) throws(Errno) {
        try Backing.rename(
            name, in: directory.raw, to: newName.bytes, in: newDirectory.raw,
            flags: replacing ? 0 : linux_RENAME_NOREPLACE)
        isPlaced = true
    }

    /// Fills the file with a version's bytes, sharing blocks where that can be done.
    func fill(from content: OpenContent) throws(Errno) {
        let size = try Backing.stat(content.raw).size
        if size == content.size, linux_clone_file(file.raw, content.raw) == 0 { return }
        try Self.copy(from: content.raw, to: file.raw, size: min(size, content.size))
    }

    /// Appends bytes.
    func append(_ bytes: [UInt8]) throws(Errno) {
        try Backing.check { lseek(file.raw, 0, SEEK_END) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try Backing.check { rest.withUnsafeBytes { write(file.raw, $0.baseAddress, $0.count) } }
            rest = rest.dropFirst(count)
        }
    }

    /// Copies the first bytes of one open file to the beginning of another.
    static func copy(from source: Int32, to target: Int32, size: UInt64) throws(Errno) {
        var (from, to): (off_t, off_t) = (0, 0)
        let end = off_t(clamping: size)
        while from < end {
            let length = Int(clamping: min(end - from, 1 << 30))
            let count = linux_copy_file_range(source, &from, target, &to, length)
            if count > 0 || count < 0 && errno == EINTR { continue }
            guard count < 0 else { return }
            guard [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else { throw Errno(rawValue: errno) }
            return try copyThroughBuffer(from: source, to: target, offset: from, end: end)
        }
    }

    private static func copyThroughBuffer(
        from source: Int32, to target: Int32, offset: off_t, end: off_t
    ) throws(Errno) {
        var buffer = [UInt8](repeating: 0, count: 1 << 17)
        var offset = offset
        while offset < end {
            let wanted = min(buffer.count, Int(clamping: end - offset))
            let count = try Backing.check { pread(source, &buffer, wanted, offset) }
            guard count > 0 else { return }
            var done = 0
            while done < count {
                let start = done
                done += try Backing.check {
                    buffer.withUnsafeBytes { bytes in
                        pwrite(target, bytes.baseAddress.map { $0 + start }, count - start, offset + off_t(start))
                    }
                }
            }
            offset += off_t(count)
        }
    }

    /// Gives the file owner, mode and extended attributes of another one, its access list among them. A capability is
    /// for the content that it was given to.
    func dress(like other: Int32, keepsSetID: Bool = true) throws(Errno) {
        let stat = try Backing.stat(other)
        let own = try Backing.stat(file.raw)
        if own.raw.user != stat.raw.user || own.raw.group != stat.raw.group {
            try Backing.check { fchown(file.raw, stat.raw.user, stat.raw.group) }
        }
        let mode = keepsSetID ? stat.permissions : SetIDRule.afterChange(stat.permissions, byStranger: true)
        // An access list is set last: it changes no more of the mode than the group's part of it.
        try Backing.check { fchmod(file.raw, mode_t(mode)) }
        try copyAttributes(of: other)
    }

    func copyCapability(of other: Int32) {
        let name = SetIDRule.capability.map { CChar(bitPattern: $0) } + [0]
        var value = [UInt8](repeating: 0, count: 256)
        let count = linux_fgetxattr(other, name, &value, value.count)
        if count >= 0 { _ = linux_fsetxattr(file.raw, name, value, count, 0) }
    }

    /// Copies the extended attributes that may be read and set, but none of
    /// ours; unless `all`, only what a user may set.
    func copyAttributes(of other: Int32, all: Bool = true) throws(Errno) {
        var list = [CChar](repeating: 0, count: 65_536)
        let length = linux_flistxattr(other, &list, list.count)
        guard length > 0 else { return }
        let ours = "user.versionsfs.".utf8.map { CChar(bitPattern: $0) }
        let capability = SetIDRule.capability.map { CChar(bitPattern: $0) }
        let ordinary = ["user.", "system.posix_acl_"].map { $0.utf8.map { CChar(bitPattern: $0) } }
        for name in list.prefix(length).split(separator: 0)
        where !name.starts(with: ours) && !name.elementsEqual(capability) {
            guard all || ordinary.contains(where: { name.starts(with: $0) }) else { continue }
            let name = Array(name) + [0]
            var value = [UInt8](repeating: 0, count: 65_536)
            let count = linux_fgetxattr(other, name, &value, value.count)
            if count >= 0 { _ = linux_fsetxattr(file.raw, name, value, count, 0) }
        }
    }
}
