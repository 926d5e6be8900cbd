// Copies a whole file: data with its holes, owner, mode, attributes with the ACL, times.

import CLinux
import Glibc
import SystemPackage
import VersionModel

enum FileCopy {
    /// Up to this size a file is copied in one call, without a search for holes.
    private static let smallSize: off_t = 65_536

    /// Up to this size it is read and written: a copy in the kernel first has to make a pipe.
    private static let tinySize: off_t = 16_384

    /// Copies all of `source` to the empty file `target`, or only its first bytes with all metadata.
    static func copy(
        _ source: FileDescriptor, to target: FileDescriptor, reflink: Bool, upTo limit: UInt64 = .max
    ) throws(Errno) -> ContentStore.Copying {
        let status = try System.status(source)
        let size = off_t(clamping: min(UInt64(clamping: status.st_size), limit))
        // A separate open file description: the seeks below move its offset, and the copy does not change the access
        // time.
        let flags = O_RDONLY | linux_O_NOATIME
        let isQuiet = fcntl(source.rawValue, F_GETFL) & linux_O_NOATIME != 0 && status.st_size <= smallSize
        let own = isQuiet ? nil : try? System.open("/proc/self/fd/\(source.rawValue)", in: source, flags)
        defer { if let own { System.close(own) } }
        let source = own ?? source
        let isReflinked = reflink && linux_clone_file(target.rawValue, source.rawValue) == 0
        if !isReflinked {
            try copyData(source, to: target, size: size)
        } else if size < status.st_size {
            try System.call { ftruncate(target.rawValue, size) }
        }
        try copyMetadata(source, status, to: target)
        return isReflinked ? .reflinked : .copied
    }

    /// Makes a copy's data durable no later than the next change of the original.
    ///
    /// ext4 makes a truncation durable with the next transaction that any program commits. A copy's data belongs to
    /// that transaction once it is written; the write starts after this call, and a thread that synchronizes waits for
    /// it. Other file systems need a wait here; on tmpfs it is free.
    static func order(_ copy: FileDescriptor, _ ordering: linux_ordering, _ arrivals: Arrivals) throws(Errno) {
        if ordering == linux_ordering_none || ordering == linux_ordering_single { return }
        if ordering == linux_ordering_journal { return arrivals.began(copy) }
        try System.call { fdatasync(copy.rawValue) }
    }

    /// The daemon's own, which do not change.
    private static let (ownUser, ownGroup) = (geteuid(), getegid())

    private static func copyData(_ source: FileDescriptor, to target: FileDescriptor, size: off_t) throws(Errno) {
        // Most files are small and have no holes: one call, without a search.
        if size > 0, size <= tinySize, copyAtOnce(source, to: target, size: Int(size)) { return }
        if size > 0, size <= smallSize { return try copyRange(source, to: target, from: 0, to: size) }
        try System.call { ftruncate(target.rawValue, size) }
        // The seeks move a file offset: on a separate description, not on the caller's.
        var position: off_t = 0
        guard let own = try? System.open("/proc/self/fd/\(source.rawValue)", in: source, O_RDONLY) else {
            return try copyRange(source, to: target, from: 0, to: size)
        }
        defer { System.close(own) }
        while position < size {
            let data = lseek(own.rawValue, position, linux_SEEK_DATA)
            if data < 0, errno == ENXIO { return }
            // A file system without holes answers EINVAL: everything is data.
            guard data >= 0 else { return try copyRange(source, to: target, from: position, to: size) }
            let hole = lseek(own.rawValue, data, linux_SEEK_HOLE)
            let end = hole < 0 ? size : min(hole, size)
            if data < end { try copyRange(source, to: target, from: data, to: end) }
            position = max(end, position + 1)
        }
    }

    /// Whether all of it was read and written.
    private static func copyAtOnce(_ source: FileDescriptor, to target: FileDescriptor, size: Int) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { buffer in
            pread(source.rawValue, buffer.baseAddress, size, 0) == size
                && pwrite(target.rawValue, buffer.baseAddress, size, 0) == size
        }
    }

    private static func copyRange(
        _ source: FileDescriptor, to target: FileDescriptor, from start: off_t, to end: off_t
    ) throws(Errno) {
        var (input, output) = (start, start)
        while input < end {
            let length = Int(clamping: min(end - input, 1 << 30))
            let count = linux_copy_file_range(source.rawValue, &input, target.rawValue, &output, length)
            if count == 0 { return }
            if count < 0 {
                switch errno {
                case EINTR: continue
                case EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM:
                    return try copyThroughBuffer(source, to: target, from: input, to: end)
                default: throw Errno(rawValue: errno)
                }
            }
        }
    }

    private static func copyThroughBuffer(
        _ source: FileDescriptor, to target: FileDescriptor, from start: off_t, to end: off_t
    ) throws(Errno) {
        var buffer = [UInt8](repeating: 0, count: 1 << 17)
        var position = start
        while position < end {
            let wanted = min(buffer.count, Int(clamping: end - position))
            let count = try System.call { pread(source.rawValue, &buffer, wanted, position) }
            if count == 0 { return }
            var written = 0
            while written < count {
                let (done, offset) = (written, position + off_t(written))
                written += try System.call {
                    buffer.withUnsafeBytes { bytes in
                        pwrite(target.rawValue, bytes.baseAddress.map { $0 + done }, count - done, offset)
                    }
                }
            }
            position += off_t(count)
        }
    }

    /// Owner first (it clears set-id bits), then mode, attributes and times. A daemon that may not change the owner
    /// stays the owner: the version's record has the right one.
    private static func copyMetadata(
        _ source: FileDescriptor, _ status: stat, to target: FileDescriptor
    ) throws(Errno) {
        if status.st_uid != ownUser || status.st_gid != ownGroup {
            if fchown(target.rawValue, status.st_uid, status.st_gid) != 0 {
                _ = fchown(target.rawValue, uid_t.max, status.st_gid)
            }
        }
        try System.call { fchmod(target.rawValue, status.st_mode & 0o7777) }
        copyAttributes(source, to: target)
        var times = (status.st_atim, status.st_mtim)
        try withUnsafePointer(to: &times) { (pointer) throws(Errno) in
            try pointer.withMemoryRebound(to: timespec.self, capacity: 2) { (pair) throws(Errno) in
                _ = try System.call { futimens(target.rawValue, pair) }
            }
        }
    }

    /// All readable attributes, except the label of another object, which is not the file's own.
    private static func copyAttributes(_ source: FileDescriptor, to target: FileDescriptor) {
        // Most files have none: the first call asks only for the length.
        guard linux_flistxattr(source.rawValue, nil, 0) > 0 else { return }
        var list = [CChar](repeating: 0, count: 65_536)
        let length = linux_flistxattr(source.rawValue, &list, list.count)
        guard length > 0 else { return }
        for name in list.prefix(length).split(separator: 0).map({ Array($0) + [0] }) {
            if name == LabelCoding.attribute { continue }
            var value = [UInt8](repeating: 0, count: 65_536)
            let count = linux_fgetxattr(source.rawValue, name, &value, value.count)
            if count >= 0 { _ = linux_fsetxattr(target.rawValue, name, value, count, 0) }
        }
    }
}
