// Covers the container's directory when it is mounted elsewhere, so that no program edits the files past the mount.

import Glibc
import Logging
import Synchronization
import SystemPackage

/// A bind of the mount over its source (DESIGN 3.3). The option `source-open` disables it. Needs root.
final class SourceCover: Sendable {
    private let source: FilePath
    private let mountpoint: FilePath
    private let logger: Logger
    private enum State { case open, laid, lifted }
    /// Guards the cover, also during mount and unmount: an end that comes in between must find it. The last of all
    /// locks. The bind waits for the mount to answer, which takes none of the daemon's locks.
    private let state = Mutex(State.open)

    init(_ source: FilePath, _ mountpoint: FilePath, _ logger: Logger) {
        self.source = source
        self.mountpoint = mountpoint
        self.logger = logger
    }

    /// Binds the mount over the directory. The kernel sends the mount a request for this, so the mount must be served.
    func lay() {
        guard geteuid() == 0 else {
            return logger.notice("\(source) stays open beside the mount: only root can cover it")
        }
        state.withLock { state in
            // Once the end has begun, the bind would take the directory below.
            guard state == .open else { return }
            // MS_BIND
            let result = mountpoint.withPlatformString { from in
                source.withPlatformString { mount(from, $0, nil, 4096, nil) }
            }
            guard result == 0 else {
                return logger.warning("\(source) cannot be covered: \(Errno(rawValue: errno))")
            }
            state = .laid
        }
    }

    /// Removes the cover, if it still exists.
    func lift() {
        state.withLock { state in
            // MNT_DETACH, UMOUNT_NOFOLLOW
            if state == .laid { _ = source.withPlatformString { umount2($0, 2 | 8) } }
            state = .lifted
        }
    }
}
