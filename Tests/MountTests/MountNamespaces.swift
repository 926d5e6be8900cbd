// Keeps tests that make mount namespaces apart from the unmounting of tests beside them: a namespace has a copy of
// every mount there is, and the daemon of a mount lives as long as any copy of that.

import Glibc
import Support

/// Either somebody makes a mount namespace, or others unmount.
enum MountNamespaces {
    private final class Gate: @unchecked Sendable {
        // May not move. Guards nothing in memory; taken with nothing held, and across programs that are run.
        private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

        init() {
            lock.initialize(to: pthread_rwlock_t())
            pthread_rwlock_init(lock, nil)
        }

        func passing<Result>(alone: Bool, _ body: () throws -> Result) rethrows -> Result {
            if alone { pthread_rwlock_wrlock(lock) } else { pthread_rwlock_rdlock(lock) }
            defer { pthread_rwlock_unlock(lock) }
            return try body()
        }
    }

    private static let gate = Gate()

    /// Runs something that unmounts, and whoever looks at it counts on the daemon's end.
    static func unmounting<Result>(_ body: () throws -> Result) rethrows -> Result {
        try gate.passing(alone: false, body)
    }

    /// Runs something in a mount namespace of its own; when it returns that is gone, or has unmounted others' mounts.
    static func making<Result>(_ body: () throws -> Result) rethrows -> Result { try gate.passing(alone: true, body) }

    /// For sh, in a new namespace: unmounts the mounts of all tests but those below a directory.
    static func unmountingOthers(but directory: String) -> String {
        """
        awk -v all='\(Workplace.root)/' -v own='\(directory)/' \
        'index($5, all) == 1 && index($5, own) != 1 { print $5 }' /proc/self/mountinfo | tac |
            while read -r point; do umount -l "$(printf %b "$point")"; done 2> /dev/null
        """
    }
}
