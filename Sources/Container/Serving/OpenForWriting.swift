// What is known of an open for writing while it waits and when it goes on.

import Coordination
import Glibc

/// An open for writing that has been admitted or waits for it.
struct OpenForWriting: Sendable {
    var node: Node
    var descriptor: SharedDescriptor
    var flags: Int32
    var caller: Caller
    var requester: Requester
    var claim: ClaimID
    /// With the coordinator, if anyone takes part.
    var coordinated: ClaimID?
    var patience: Patience
    /// Its file has lost its name, and it has been sent back once to find another.
    var isDisplaced = false

    /// Whether `stale-writes = "refuse"` looks at it: with O_TRUNC, or write-only and not appending.
    var mayReplace: Bool {
        flags & O_TRUNC != 0 || flags & O_ACCMODE == O_WRONLY && flags & O_APPEND == 0
    }
}
