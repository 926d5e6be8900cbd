// Tests which features the container can use of the file system below.

import CLinux
import Glibc
import SystemPackage
import Synchronization
import VersionStore

/// Runs its test once, in the state directory, at the first use.
final class FileSystemProbe: Sendable {
    private let state: FileDescriptor
    /// Guards the answer; the test takes no other lock of the daemon.
    private let found = Mutex<[String]?>(nil)

    init(_ store: ContainerState, isReadOnly: Bool) {
        state = store.directory
        // No test in a read-only container.
        if isReadOnly { found.withLock { $0 = [] } }
    }

    /// Words for `status`: `xattr`, `acl`, `hard links`, `O_TMPFILE`. Without these features labels of contents are in
    /// separate files, and copies replace hard links.
    var words: [String] {
        found.withLock { found in
            if let found { return found }
            let words = probe()
            found = words
            return words
        }
    }

    private func probe() -> [String] {
        let staging = linux_openat(state.rawValue, "staging", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard staging >= 0 else { return [] }
        defer { close(staging) }
        let name = "probe-\(getpid())"
        let nameless = linux_openat(staging, ".", linux_O_TMPFILE | O_RDWR | O_CLOEXEC, 0o600)
        let file = nameless >= 0 ? nameless : linux_openat(staging, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard file >= 0 else { return [] }
        defer {
            close(file)
            if nameless < 0 { unlinkat(staging, name, 0) }
        }
        var words: [String] = []
        if linux_fsetxattr(file, "user.versionsfs.probe", "1", 1, 0) == 0 { words.append("xattr") }
        if linux_fgetxattr(file, "system.posix_acl_access", nil, 0) >= 0 || errno == ENODATA { words.append("acl") }
        let second = name + "-link"
        if linkat(AT_FDCWD, "/proc/self/fd/\(file)", staging, second, AT_SYMLINK_FOLLOW) == 0 {
            words.append("hard links")
            unlinkat(staging, second, 0)
        }
        if nameless >= 0 { words.append("O_TMPFILE") }
        return words
    }
}
