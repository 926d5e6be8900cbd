// The new files in the state since all of it was durable, on file systems where fsync(2) covers just one file.

import CLinux
import Glibc
import Synchronization
import SystemPackage

/// On btrfs a synchronized file is written to a separate log, ahead of the transaction. Its older content, kept by a
/// copy, a link or a rename, is not in that log. So the transaction is committed first, if the state has new files
/// since the last commit. A file that comes while another thread synchronizes is committed at once, before the kept
/// content is overwritten.
///
/// A file that comes after any synchronization is committed, too: from then on the log has a rename if it has the file
/// or the directory, and any program's fsync(2) makes the rename durable, but not the link that keeps the replaced
/// file. The commit empties the log. Other file systems need none of this.
final class Settling: Sendable {
    /// Whether fsync(2) covers just one file.
    let isNeeded: Bool
    private let file: FileDescriptor
    /// The number of new files. At the start the daemon does not know the files of the one before.
    private let arrived = Atomic<UInt64>(1)
    private let synchronizing = Atomic<Int>(0)
    /// The number of synchronizations, and how many of them precede the last commit: the log may still have something
    /// of the others. At the start the daemon does not know those of the one before.
    private let logged = Atomic<UInt64>(1)
    private let emptied = Atomic<UInt64>(0)
    /// The number of durable new files. Held while files become durable: a thread with the same need waits for that.
    /// Lock order: last.
    private let durable = Mutex<UInt64>(0)

    /// - Parameter file: a file of the file system, open as long as this object lives.
    init(on file: FileDescriptor, readOnly: Bool) {
        self.file = file
        isNeeded = !readOnly && linux_ordering_of(file.rawValue) == linux_ordering_single
    }

    /// Notes that a file has its name in the state. The original file or name may change from now on.
    func noteArrival() {
        guard isNeeded else { return }
        arrived.add(1, ordering: .sequentiallyConsistent)
        if synchronizing.load(ordering: .sequentiallyConsistent) > 0 || isLogged { settle() }
    }

    /// Notes that a program may synchronize from now on without a request to the daemon.
    func noteUnseen() { if isNeeded { logged.add(1, ordering: .sequentiallyConsistent) } }

    private var isLogged: Bool {
        logged.load(ordering: .sequentiallyConsistent) != emptied.load(ordering: .sequentiallyConsistent)
    }

    /// Makes all new files durable.
    func settle() {
        guard isNeeded else { return }
        let wanted = arrived.load(ordering: .sequentiallyConsistent)
        durable.withLock { durable in
            guard durable < wanted else { return }
            // A file that comes meanwhile may or may not be covered.
            let covered = arrived.load(ordering: .sequentiallyConsistent)
            let times = logged.load(ordering: .sequentiallyConsistent)
            guard linux_synchronize_all(file.rawValue) == 0 else { return }
            durable = covered
            emptied.store(times, ordering: .sequentiallyConsistent)
        }
    }

    /// Runs a call that makes files durable, after all new files.
    func synchronizing<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        guard isNeeded else { return try body() }
        synchronizing.add(1, ordering: .sequentiallyConsistent)
        defer {
            logged.add(1, ordering: .sequentiallyConsistent)
            synchronizing.subtract(1, ordering: .sequentiallyConsistent)
        }
        settle()
        return try body()
    }
}
