// An open file: the object of a kernel handle.

import Coordination
import Glibc
import Synchronization
import VersionModel

/// One open(2) of a regular file. Read-only handles with passthrough share handle 0 and have no such object.
final class OpenFile: Sendable {
    /// Its claim with the ``WriterArbiter``.
    let claim: ClaimID?
    /// The events of this handle.
    struct State {
        /// The version of its last save, which the next one amends.
        var saved: VersionID?
        /// Whether a close(2) of its opener has been answered; changes between it and the release belong to another
        /// process.
        var isFlushed = false
        /// The time of the last close after a change, by ``Scheduler/now``; nil: never.
        var closed: Int64?
        /// The process that left its writes to this handle at its own release.
        var leftBy: Requester?
        /// See ``OpenFile/isClosing``.
        var isClosing: Bool { closed.map { Scheduler.now - $0 < OpenFile.releaseNanoseconds } ?? false }
        /// Whether it truncated the file to 0: a replacing save.
        var isReplacing = false
        /// Whether it has emptied the file, and none of its closes has been answered since.
        var hasEmptied: Bool { isReplacing && !isFlushed }
        /// Whether writes reach the daemon before the file; false until that is decided.
        var isMediated = false
        /// Whether at least reads and mappings bypass the daemon.
        var isPassed = false
        /// Whether it is checked repeatedly since its close.
        var isWatched = false
        /// Its claim with the ``Coordinator``, if any client has taken part since its open.
        var coordinated: ClaimID?
        /// The number of running changes: decided, and possibly not in the file yet.
        var changes = 0
        /// Whether the daemon has seen a change through it.
        var hasChanged = false
        /// The number of changes that have begun.
        var begun = 0
        /// The number of changes that its last save has found in the file.
        var settled = 0
        /// The number of changes that a check from now on finds; running ones do not count.
        var finished: Int { changes == 0 ? begun : settled }
        /// Whether it may have written the file's present content.
        var isOfItsContent: Bool { isReplacing || hasChanged || saved != nil }
    }

    /// The longest expected time of a release on a busy machine.
    fileprivate static let releaseNanoseconds: Int64 = 2_000_000_000

    let id: UInt64
    let node: Node
    let descriptor: SharedDescriptor
    let flags: Int32
    let requester: Requester
    let state: RankedMutex<State>
    /// Whether it was opened for appending and has written elsewhere: a program can remove O_APPEND.
    let hasWrittenInside = Atomic<Bool>(false)
    /// The time of the open, by ``Scheduler/now``.
    let opened = Scheduler.now

    init(
        id: UInt64, node: Node, descriptor: SharedDescriptor, flags: Int32, requester: Requester, claim: ClaimID?,
        coordinated: ClaimID? = nil, isReplacing: Bool = false
    ) {
        self.id = id
        self.node = node
        self.descriptor = descriptor
        self.flags = flags
        self.requester = requester
        self.claim = claim
        state = RankedMutex(State(isReplacing: isReplacing, coordinated: coordinated))
    }

    var coordinated: ClaimID? { state.withLock(\.coordinated) }
    var isWritable: Bool { flags & O_ACCMODE != O_RDONLY }
    /// Whether a mapping of it may write.
    var mayBeMapped: Bool { flags & O_ACCMODE == O_RDWR }
    /// Whether it is one of its file's writers, including one that only truncated it, or created it and may only read.
    var isWriter: Bool { node.writers.contains { $0 === self } }
    /// Whether all its writes were appends, as far as the daemon has seen them.
    var isAppending: Bool { flags & O_APPEND != 0 && !hasWrittenInside.load(ordering: .sequentiallyConsistent) }

    /// Whether the daemon sees each of its changes, and its last save at a close(2) has found all of them: later
    /// changes of the file come from another process.
    var isDone: Bool {
        !mayBeMapped && state.withLock { $0.isFlushed && $0.isMediated && $0.saved != nil && $0.begun == $0.settled }
    }

    /// Whether it was closed a moment ago, so that its release is probably on the way. A handle that stays longer has a
    /// duplicate in another process, and may continue to write.
    var isClosing: Bool { state.withLock { $0.isClosing } }
}

/// All open files by handle. Lock order: last.
final class OpenFileTable: Sendable {
    private struct State {
        var files: [UInt64: OpenFile] = [:]
        var next: UInt64 = 1
    }

    /// The handle of every read-only open that passes through.
    static let sharedReader: UInt64 = 0
    private let state = RankedMutex(State())

    subscript(handle: UInt64) -> OpenFile? { state.withLock { $0.files[handle] } }

    /// The number for a new handle.
    func newHandle() -> UInt64 {
        state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
    }

    func add(_ file: OpenFile) { state.withLock { $0.files[file.id] = file } }

    func remove(_ handle: UInt64) -> OpenFile? { state.withLock { $0.files.removeValue(forKey: handle) } }

    /// The files open now, in no order.
    var all: [OpenFile] { state.withLock { Array($0.files.values) } }
}
