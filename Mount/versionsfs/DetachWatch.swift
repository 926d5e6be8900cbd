// The moment at which a mount has left its place, while programs that are still in it keep the daemon at work.

import Glibc

/// Watches the kernel's table of mounts.
enum DetachWatch {
    /// Watches on a thread of its own.
    /// - Parameter isGone: called once, when the mount at this path is in the table no more.
    static func start(_ point: [UInt8], _ isGone: @escaping @Sendable () -> Void) {
        guard let device = FileSystemsBelow.device(of: point) else { return }
        let table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard table >= 0 else { return }
        ThreadStart {
            defer { close(table) }
            // A change of the table since the last poll counts as an error of the file (proc_pid_mounts(5)).
            var entry = pollfd(fd: table, events: Int16(POLLPRI), revents: 0)
            while FileSystemsBelow.isMounted(device) {
                guard poll(&entry, 1, -1) >= 0 || errno == EINTR else { return }
            }
            isGone()
        }.run()
    }
}
