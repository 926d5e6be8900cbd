// An open file: what a handle of the kernel stands for.

import Coordination
import Glibc
import Synchronization
import VersionModel

/// One open(2) of a regular file. Read-only handles that pass through share handle 0 and have none of these.
final class OpenFile: Sendable {
    /// Its claim with the ``WriterArbiter``.
    let claim: ClaimID?
    /// What has happened through this handle.
    struct State {
        /// The version that its last save made; amended by the next.
        var saved: VersionID?
        /// A close(2) of its opener has been answered; what changes before the release that follows is another's.
        var isFlushed = false
        /// When something that was changed through it was closed last, by ``Scheduler/now``; nil: never.
        var closed: Int64?
        /// Who has left to this one what it wrote, when it was released before.
        var leftBy: Requester?
        /// See ``OpenFile/isClosing``.
        var isClosing: Bool { closed.map { Scheduler.now - $0 < OpenFile.releaseNanoseconds } ?? false }
        /// It truncated the file to nothing: a replacing save.
        var isReplacing = false
        /// Writes come to us before they reach the file: not known to before it is decided.
        var isMediated = false
        /// Reads and mappings of it, at least, go past us.
        var isPassed = false
        /// It is looked at again and again since it was closed.
        var isWatched = false
        /// Its claim with the ``Coordinator``, if anyone has taken part since it was opened.
        var coordinated: ClaimID?
        /// How many changes through it are under way: decided, and perhaps not in the file yet.
        var changes = 0
        /// Something was changed through it, as far as that came to us.
        var hasChanged = false
        /// How many changes have begun.
        var begun = 0
        /// How many of them its last save has found in the file.
        var settled = 0
        /// The changes that a look at the file from now on finds: none that is under way counts.
        var finished: Int { changes == 0 ? begun : settled }
        /// What the file holds may be its doing.
        var isOfItsContent: Bool { isReplacing || hasChanged || saved != nil }
    }

    /// For how long a release may be on its way on a busy machine.
    fileprivate static let releaseNanoseconds: Int64 = 2_000_000_000

    let id: UInt64
    let node: Node
    let descriptor: SharedDescriptor
    let flags: Int32
    let requester: Requester
    let state: Mutex<State>
    /// It was opened to append, and is used otherwise: a program may take O_APPEND away.
    let hasWrittenInside = Atomic<Bool>(false)
    /// When, by ``Scheduler/now``.
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
        state = Mutex(State(isReplacing: isReplacing, coordinated: coordinated))
    }

    var coordinated: ClaimID? { state.withLock(\.coordinated) }
    var isWritable: Bool { flags & O_ACCMODE != O_RDONLY }
    /// Whether a mapping through it may write.
    var mayBeMapped: Bool { flags & O_ACCMODE == O_RDWR }
    /// Whether it is among the writers of its file: also who only truncated it, or made it and may only read.
    var isWriter: Bool { node.writers.contains { $0 === self } }
    /// Whether all that was written through it was appended, as far as that came to us.
    var isAppending: Bool { flags & O_APPEND != 0 && !hasWrittenInside.load(ordering: .sequentiallyConsistent) }

    /// Whether each of its changes comes to us, and its last save at a close(2) has found all of them: what has changed
    /// in the file since then is another's.
    var isDone: Bool {
        !mayBeMapped && state.withLock { $0.isFlushed && $0.isMediated && $0.saved != nil && $0.begun == $0.settled }
    }

    /// Whether it was closed a moment ago, and its release is nearly always on its way. A handle that is there longer
    /// belongs to somebody who has a duplicate of it, and may go on.
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
    private let state = Mutex(State())

    subscript(handle: UInt64) -> OpenFile? { state.withLock { $0.files[handle] } }

    /// The number of a handle that is about to be.
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
