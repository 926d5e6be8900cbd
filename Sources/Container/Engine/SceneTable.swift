// What the daemon remembers of files, handles and observations, for all threads.

import Lineage
import VersionModel

/// Lineage's memory, with the stamps of the looks that it goes back to. A crash takes it.
final class SceneTable: Sendable {
    private struct State: Sendable {
        var remembered = Remembered()
        var stamps: [FileID: Stamp] = [:]
    }

    /// Before ``FactMemory`` and ``ProgramNumbers``; held for a look.
    private let state = RankedMutex(State(), .scene)
    private let audiences: Audiences

    init(_ audiences: @escaping Audiences) { self.audiences = audiences }

    /// The part that a plan asks about, and when its files were looked at last.
    func part(about asked: Asked, in facts: Facts) -> (part: Remembered.Part, stamps: [FileID: Stamp]) {
        state.withLock { state in
            let part = state.remembered.part(about: asked, in: facts)
            var stamps: [FileID: Stamp] = [:]
            for file in part.memory.files { stamps[file.id] = state.stamps[file.id] }
            return (part, stamps)
        }
    }

    /// - Parameter stamps: of the looks that the plan was made after.
    func apply(_ change: Remembered.Change, _ stamps: [FileID: Stamp]) {
        state.withLock { state in
            state.remembered.apply(change, audiences: audiences)
            for (file, stamp) in stamps { state.stamps[file] = state.remembered[file] == nil ? nil : stamp }
        }
    }

    /// Forgets files that are not open.
    func forgetIdleFiles() {
        state.withLock { state in
            state.remembered.forgetIdleFiles()
            state.stamps = state.stamps.filter { state.remembered[$0.key] != nil }
        }
    }

    /// Forgets what programs have seen that have ended, as far as it counts for no other.
    func forgetEnded() { state.withLock { $0.remembered.forgetEnded(audiences) } }

    /// How many documents anything is remembered of that programs have seen.
    var countOfSeen: Int { state.withLock { $0.remembered.countOfSeen } }

    /// How many files are remembered.
    var count: Int { state.withLock { $0.remembered.countOfFiles } }

    /// Everything that is remembered.
    var whole: Memory { state.withLock { $0.remembered.whole } }

    /// Whether anything is remembered of a file.
    func remembers(_ file: FileID) -> Bool { state.withLock { $0.remembered[file] != nil } }

    /// The daemon's memory of a file, with the stamp of its last look; nil if the daemon remembers nothing of it.
    func recall(_ file: FileID) -> (file: LiveFile, stamp: Stamp?)? {
        state.withLock { state in state.remembered[file].map { ($0, state.stamps[file]) } }
    }

    /// Whether a program has seen a version of a document.
    func hasSeen(_ document: DocumentNumber) -> Bool { state.withLock { $0.remembered.hasSeen(document) } }

    /// Whether a handle goes on with a version that it has saved.
    func hasSaver(of version: VersionNumber) -> Bool { state.withLock { $0.remembered.hasSaver(of: version) } }

    /// The daemon's memory of a handle; nil if the handle is not known.
    func handle(_ handle: HandleNumber) -> Handle? { state.withLock { $0.remembered[handle] } }

    /// The process that has a handle runs another program by now.
    func give(_ handle: HandleNumber, to actor: ActorNumber) {
        state.withLock { $0.remembered.give(handle, to: actor) }
    }

    /// A program has read a version (``Remembered/noteRead(by:of:of:as:at:isRead:audiences:)``).
    func noteRead(
        by actor: ActorNumber, of version: VersionNumber, of home: DocumentNumber, as document: DocumentNumber,
        at time: Timestamp, isRead: Bool
    ) {
        state.withLock {
            $0.remembered.noteRead(
                by: actor, of: version, of: home, as: document, at: time, isRead: isRead, audiences: audiences)
        }
    }

    /// Takes a handle away, if its file has no other.
    func removeLast(_ handle: HandleNumber) -> Bool { state.withLock { $0.remembered.removeLast(handle) } }

    /// Forgets a file that is as it was recorded and that no program has open.
    /// - Returns: whether it is forgotten.
    func forget(_ file: FileID) -> Bool {
        state.withLock { state in
            guard let known = state.remembered[file], !known.isChanged, state.remembered.handles(of: file).isEmpty
            else { return false }
            (state.remembered[file], state.stamps[file]) = (nil, nil)
            return true
        }
    }

    /// The files that programs have open.
    var openFiles: Set<FileID> { state.withLock { $0.remembered.openFiles } }

    /// The file that a handle has open.
    func file(of handle: HandleNumber) -> FileID? { state.withLock { $0.remembered[handle]?.file } }
}
