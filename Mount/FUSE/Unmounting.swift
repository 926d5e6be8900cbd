// Unmounts: by system call as root, through fusermount3 otherwise.

import Glibc
import SystemPackage

enum Unmounting {
    /// - Parameter connection: the mount's, if it is known.
    /// - Throws: `invalidArgument` if the path has another mount by now, or none.
    static func unmount(
        _ path: FilePath, _ departure: MountedSession.Departure, _ connection: ConnectionSwitch?
    ) throws(Errno) {
        let isThere = connection?.isMounted(at: path) ?? true
        if departure == .aborted, connection?.abort() == true {
            // Only the name is left. No caller needs it, and a failure to remove it is harmless.
            if isThere { try? take(path, .detached) }
            return
        }
        guard isThere else { throw .invalidArgument }
        try take(path, departure)
    }

    private static func take(_ path: FilePath, _ departure: MountedSession.Departure) throws(Errno) {
        if geteuid() == 0 {
            let result = path.withPlatformString { umount2($0, flags(departure)) }
            if result == 0 { return }
            throw Errno(rawValue: errno)
        }
        try helper(path, lazily: departure != .whenUnused)
    }

    /// MNT_FORCE 1, MNT_DETACH 2, UMOUNT_NOFOLLOW 8. With MNT_FORCE a FUSE mount's connection is aborted.
    private static func flags(_ departure: MountedSession.Departure) -> Int32 {
        switch departure {
        case .whenUnused: 8
        case .detached: 8 | 2
        case .aborted: 8 | 2 | 1
        }
    }

    private static func helper(_ path: FilePath, lazily: Bool) throws(Errno) {
        let words = ["fusermount3", "-u", "-q"] + (lazily ? ["-z"] : []) + ["--", path.string]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        let failure = posix_spawnp(&child, words[0], nil, nil, &arguments, environ)
        guard failure == 0 else { throw Errno(rawValue: failure) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            // ECHILD: this process ignores SIGCHLD, so the helper's result is lost; the helper has ended all the same.
            guard errno == EINTR else { return }
        }
        if status != 0 { throw .resourceBusy }
    }
}
