// Covering the container's directory when it is mounted elsewhere, so that nobody edits the files past the mount.

import Glibc
import Logging
import Synchronization
import SystemPackage

/// A bind of the mount over its source (DESIGN 3.3); the option `source-open` does without. Needs root.
final class SourceCover: Sendable {
    private let source: FilePath
    private let mountpoint: FilePath
    private let logger: Logger
    private let isLaid = Mutex(false)

    init(_ source: FilePath, _ mountpoint: FilePath, _ logger: Logger) {
        self.source = source
        self.mountpoint = mountpoint
        self.logger = logger
    }

    /// Binds the mount over the directory. The kernel asks the mount for that, so somebody must be serving it.
    func lay() {
        guard geteuid() == 0 else {
            return logger.notice("\(source) stays open beside the mount: only root can cover it")
        }
        // MS_BIND
        let result = mountpoint.withPlatformString { from in source.withPlatformString { mount(from, $0, nil, 4096, nil) } }
        guard result == 0 else {
            return logger.warning("\(source) cannot be covered: \(Errno(rawValue: errno))")
        }
        isLaid.withLock { $0 = true }
    }

    /// Takes it away again, if it is still there.
    func lift() {
        let wasLaid = isLaid.withLock { laid in
            defer { laid = false }
            return laid
        }
        // MNT_DETACH, UMOUNT_NOFOLLOW
        if wasLaid { _ = source.withPlatformString { umount2($0, 2 | 8) } }
    }
}
