// What has come into the state since all of it was durable, where fsync(2) makes no more durable than the one file.

import CLinux
import Glibc
import Synchronization
import SystemPackage

/// On btrfs a file that is synchronised is written to a log of its own, ahead of the transaction: what was kept of its
/// older content, by a copy, a link or a rename, is not. So the transaction is committed first, if anything has come
/// into the state since the last one; what comes while somebody synchronises has it committed at once, before what was
/// kept is overwritten. Elsewhere nothing of this is done.
final class Settling: Sendable {
    /// Whether fsync(2) covers just the one file.
    let isNeeded: Bool
    private let file: FileDescriptor
    /// How much has come. At the start nobody knows what those before us have left.
    private let arrived = Atomic<UInt64>(1)
    private let synchronizing = Atomic<Int>(0)
    /// How much of that is durable. Held while it is made so: who needs the same waits for that. Lock order: last.
    private let durable = Mutex<UInt64>(0)

    /// - Parameter file: of the file system, open as long as this lives.
    init(on file: FileDescriptor, readOnly: Bool) {
        self.file = file
        isNeeded = !readOnly && linux_ordering_of(file.rawValue) == linux_ordering_single
    }

    /// Something has got its name in the state; what it was under before may change from now on.
    func noteArrival() {
        guard isNeeded else { return }
        arrived.add(1, ordering: .sequentiallyConsistent)
        if synchronizing.load(ordering: .sequentiallyConsistent) > 0 { settle() }
    }

    /// Makes all that has come durable.
    func settle() {
        guard isNeeded else { return }
        let wanted = arrived.load(ordering: .sequentiallyConsistent)
        durable.withLock { durable in
            guard durable < wanted else { return }
            // What comes meanwhile may or may not be in it.
            let covered = arrived.load(ordering: .sequentiallyConsistent)
            if linux_synchronize_all(file.rawValue) == 0 { durable = covered }
        }
    }

    /// Runs what makes things durable behind all that has come.
    func synchronizing<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        guard isNeeded else { return try body() }
        synchronizing.add(1, ordering: .sequentiallyConsistent)
        defer { synchronizing.subtract(1, ordering: .sequentiallyConsistent) }
        settle()
        return try body()
    }
}
