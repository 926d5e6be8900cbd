// The files that have come into the state since all of it was durable, where fsync(2) makes just the one file durable.

import CLinux
import Glibc
import Synchronization
import SystemPackage

/// On btrfs a file that is synchronized is written to a log of its own, ahead of the transaction: its older content,
/// kept by a copy, a link or a rename, is not. So the transaction is committed first, if anything has come into the
/// state since the last one; a file that comes while another thread synchronizes has it committed at once, before the
/// kept content is overwritten.
///
/// A file that comes after something was synchronized has it committed, too: from then on a rename is in the log if its
/// file or directory is, and any program's fsync(2) makes that durable, without the link that keeps what had the name.
/// The commit empties the log. Elsewhere nothing of this is done.
final class Settling: Sendable {
    /// Whether fsync(2) covers just the one file.
    let isNeeded: Bool
    private let file: FileDescriptor
    /// How many files have come. At the start the daemon does not know which the one before has left.
    private let arrived = Atomic<UInt64>(1)
    private let synchronizing = Atomic<Int>(0)
    /// How often something was synchronized, and how many of those times were before the last commit: of the others the
    /// log may have something still. At the start the daemon does not know what the one before has synchronized.
    private let logged = Atomic<UInt64>(1)
    private let emptied = Atomic<UInt64>(0)
    /// How many of the files that have come are durable. Held while they are made so: a thread that needs the same
    /// waits for that. Lock order: last.
    private let durable = Mutex<UInt64>(0)

    /// - Parameter file: of the file system, open as long as this lives.
    init(on file: FileDescriptor, readOnly: Bool) {
        self.file = file
        isNeeded = !readOnly && linux_ordering_of(file.rawValue) == linux_ordering_single
    }

    /// A file has got its name in the state; the file or name that it comes from may change from now on.
    func noteArrival() {
        guard isNeeded else { return }
        arrived.add(1, ordering: .sequentiallyConsistent)
        if synchronizing.load(ordering: .sequentiallyConsistent) > 0 || isLogged { settle() }
    }

    /// A program may synchronize from now on without asking the daemon.
    func noteUnseen() { if isNeeded { logged.add(1, ordering: .sequentiallyConsistent) } }

    private var isLogged: Bool {
        logged.load(ordering: .sequentiallyConsistent) != emptied.load(ordering: .sequentiallyConsistent)
    }

    /// Makes all that has come durable.
    func settle() {
        guard isNeeded else { return }
        let wanted = arrived.load(ordering: .sequentiallyConsistent)
        durable.withLock { durable in
            guard durable < wanted else { return }
            // A file that comes meanwhile may or may not be in it.
            let covered = arrived.load(ordering: .sequentiallyConsistent)
            let times = logged.load(ordering: .sequentiallyConsistent)
            guard linux_synchronize_all(file.rawValue) == 0 else { return }
            durable = covered
            emptied.store(times, ordering: .sequentiallyConsistent)
        }
    }

    /// Runs a call that makes files durable behind all files that have come.
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
