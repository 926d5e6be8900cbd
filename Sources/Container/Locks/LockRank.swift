// The place of each lock in the order of docs/locks.md.

/// A lock is taken only while those held by the thread have lower ranks. In builds for tests every lock of the
/// module checks that (``HeldLocks``).
enum LockRank: Int, Comparable {
    /// `Enrollment.turn`, taken with nothing held.
    case enrollment
    /// `LiveTree.names`
    case names
    /// `Document.state`. Two only while ``names`` is held alone.
    case document
    /// `DocumentIndex.state`
    case index
    /// `NodeTable.state`
    case nodes
    /// `Custodian.removal`
    case contents
    /// `WriterArbiter.state` and `Coordinator.state`, neither of them under the other.
    case claims
    /// `ObservationBooks.books` and `ProcessTable.state`, before the other lock of each.
    case books
    /// `Orphans`, held while the writers of a file are counted.
    case orphans
    /// `SceneTable.state`, under which facts are looked up in memory.
    case scene
    /// The small tables, under which no other lock of the module is taken.
    case table

    static func < (one: LockRank, other: LockRank) -> Bool { one.rawValue < other.rawValue }
}
