// A full file system: what is done again once there is room, and what goes for good where there is none (DESIGN 7).

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension Errno {
    /// The file system, or the user's quota, is full.
    var isFull: Bool { self == .noSpace || rawValue == Glibc.EDQUOT }
}

extension LiveContainer {
    /// Makes room and repeats a call that failed for lack of space.
    ///
    /// - Parameters:
    ///   - wanted: the free bytes that the call needs.
    ///   - mayWait: whether the caller holds no lock.
    ///   - isRecord: whether the call writes the record of a removal or replacement, without which no room could be
    ///     made: it may use the ballast.
    ///   - mustSucceed: whether to delete only if that frees enough bytes.
    func retryingWhenFull<Result>(
        wanted: UInt64 = 0, mayWait: Bool = false, isRecord: Bool = false, mustSucceed: Bool = false,
        _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        var failure: Errno
        do throws(Errno) { return try body() } catch { failure = error }
        guard failure.isFull else { throw failure }
        if makeRoom(wanted: wanted, mayWait: mayWait, mustSucceed: mustSucceed) {
            do throws(Errno) { return try body() } catch { failure = error }
            guard failure.isFull else { throw failure }
            // What was given up may be room only once the file system has written down that it is gone.
            if mayWait, linux_synchronize_all(store.state.rawValue) == 0 {
                do throws(Errno) { return try body() } catch { failure = error }
            }
        }
        guard isRecord, store.ballast.release() else { throw failure }
        defer {
            store.ballast.take()
            scheduleTrim(isUrgent: true)
        }
        return try body()
    }

    /// On a full file system, a truncation discards a content that cannot be copied, as the newest one that may go:
    /// otherwise no program could make room by a truncation. Pinned versions, and versions that may have to stay as
    /// losers of a conflict, are not discarded.
    func truncatesAllTheSame(
        _ state: inout Document.State, of node: Node, by requester: Requester?, _ failure: Errno
    ) throws(Errno) {
        guard failure.isFull, let current = state.current, !current.flags.contains(.pinned),
            !state.sharesContent
        else { throw failure }
        if let actor = requester?.actor, let base = observers.base(of: actor, item: state.item), base != current.id,
            let name = nodes.location(node).name, !isQuiet(name.parent, name.name)
        {
            throw failure
        }
        state.current?.flags.insert(.contentLost)
        noteShortage((1, current.size), isExhausted: true)
        scheduleTrim(isUrgent: true)
    }

    /// Removes what a name stands for without the deleted area, where that has no room even for the record: there it
    /// would be the first to be given up. With it goes the history of a document that is nowhere else.
    func removeForGood(
        _ entry: Entry, _ document: Document?, _ requester: Requester, _ failure: Errno
    ) throws(Errno) {
        guard failure.isFull, requester.isProgram else { throw failure }
        if let document {
            // Looked at before the lock was taken, so that little is waited for now; since then something may have been
            // pinned, or become a conflict.
            guard entry.unprotected == document.item, isUnprotected(document.item),
                !document.state.withLock(\.sharesContent)
            else { throw failure }
        }
        try Backing.unlink(
            entry.name.bytes, in: entry.directory.raw, flags: entry.stat.isDirectory ? AT_REMOVEDIR : 0)
        leave(entry, now: .gone)
        // A descriptor of our own would keep its room.
        letGoOfRemoved()
        noteShortage((1, UInt64(entry.stat.raw.blocks) * 512), isExhausted: true)
        scheduleTrim(isUrgent: true)
        var rows: [VersionStore.Mutation] = []
        if let document {
            try store(throwing: .ioError) { () throws(StoreError) in try documents.remove(at: entry.place) }
            rows = document.state.withLock { state in
                state.places.removeAll { $0 == entry.place }
                return announcement(&state, in: entry.parent, entry.name, by: requester)
            }
        }
        record(
            entry.parent,
            rows + [.change(change(.deleted, in: entry.parent, entry.name, item: document?.item, by: requester))])
        document?.state.withLock { forget($0) }
    }

    /// The item of a name if it may go with all its history, for want of space: nothing of it is pinned or in conflict.
    /// Called with no lock held, because the catalog is asked.
    func unprotectedItem(at place: Place) -> ItemID? {
        guard let document = try? documents.document(at: place), isUnprotected(document.item) else { return nil }
        return document.item
    }

    private func isUnprotected(_ item: ItemID) -> Bool {
        guard let versions = try? store.versions(of: item) else { return false }
        return versions.allSatisfy { $0.kind != .conflict && !$0.flags.contains(.pinned) }
    }
}
