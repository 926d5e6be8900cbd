// Keeping within bounds: the shares of history and of the deleted area, and a reserve that stays free (DESIGN 7).

import Dispatch
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// What is remembered between looks at the space. Lock order: last.
final class RoomState: Sendable {
    struct State {
        /// A look by the background thread is due.
        var isScheduled = false
        /// Bytes of history that may not be given up, when it was last added up.
        var protected: UInt64 = 0
        /// Bytes of contents that are kept already while they are current, then.
        var ahead: UInt64 = 0
        /// Bytes of contents that may be given up, but stay all the same, then: a clone shares them.
        var shared: UInt64 = 0
        /// Which was the last change then (nil: it could not be done), and how long it took; nil: to be added up anew.
        var addedUp: (sequence: UInt64?, nanoseconds: Int64)?
        /// It is going to be added up.
        var isAddingUp = false
        /// What was given up since the file system was full; nil while it is not.
        var shortage: Shortage?
        /// The last time that it was, for `status`.
        var last: Shortage?
        /// Uptime until which it is in vain to look for more.
        var vainUntil: Int64 = 0
        /// Counts what made another look worth while: a look begun before may have missed it.
        var news: UInt64 = 0
        /// The bytes that could be given up, when they were counted last.
        var reclaimable: Reclaimable?
        /// The file system when it was asked last, by ``Scheduler/now``; only while much of it is free.
        var recent: (room: (total: UInt64, free: UInt64), time: Int64)?
    }

    struct Shortage {
        var since: Timestamp
        var contents = 0
        var bytes: UInt64 = 0
        /// Nothing was left to give up, and still there was no room.
        var isExhausted = false
    }

    let state = RankedMutex(State())
    /// How often the catalog was walked for contents that may be given up.
    let walks = Atomic<Int>(0)
    /// Whether the history exceeds its limit by more than one version: the thread that adds to it deletes some before
    /// its answer.
    let isBehind = Atomic<Bool>(false)
    let givingUp = Turn()
}

/// One at a time. Unlike with a lock, who may not wait is told.
final class Turn: Sendable {
    private let isTaken = DispatchSemaphore(value: 1)

    /// - Returns: whether it is the caller's turn, who ends it.
    func begin(mayWait: Bool) -> Bool { isTaken.wait(timeout: mayWait ? .distantFuture : .now()) == .success }

    func end() { isTaken.signal() }
}

extension LiveContainer {
    /// A bound is undershot by this part of it, so that not every save has to look for what may go.
    private static let slackPart: UInt64 = 16
    /// How many versions go in one transaction.
    static let mostAtOnce = 1024
    private static let vainNanoseconds: Int64 = 10_000_000_000
    private static let recentNanoseconds: Int64 = 20_000_000

    /// The file system below: its size, and what is free for everyone, in bytes.
    var room: (total: UInt64, free: UInt64)? {
        var result = statvfs()
        guard fstatvfs(root.raw, &result) == 0 else { return nil }
        let block = UInt64(result.f_frsize)
        return (UInt64(result.f_blocks) &* block, UInt64(result.f_bavail) &* block)
    }

    /// The same as it was a moment ago, where there is so much of it that a moment does not matter: every opening for
    /// writing and every save asks.
    private var recentRoom: (total: UInt64, free: UInt64)? {
        let time = Scheduler.now
        if let recent = roomState.state.withLock(\.recent), time - recent.time < Self.recentNanoseconds {
            return recent.room
        }
        guard let room else { return nil }
        let isPlenty = room.free / 4 > Self.reserve(of: room.total)
        roomState.state.withLock { $0.recent = isPlenty ? (room, time) : nil }
        return room
    }

    /// What is to stay free of a file system of this size: 2 %, but at least 1 GiB, and at most a tenth.
    static func reserve(of total: UInt64) -> UInt64 { min(max(total / 50, 1 << 30), total / 10) }

    /// The bytes that a share stands for here.
    func bound(_ share: Settings.Share) -> UInt64 {
        switch share {
        case .bytes(let bytes): return bytes
        case .percent(let percent):
            let bytes = Double(recentRoom?.total ?? .max) * max(0, percent) / 100
            return bytes < Double(UInt64.max) ? UInt64(bytes) : .max
        }
    }

    /// Less than half of the reserve is left: writes are to come to us, who can make room for them.
    var isNearlyFull: Bool {
        guard let room = recentRoom else { return false }
        let reserve = Self.reserve(of: room.total)
        if room.free < reserve { scheduleTrim() }
        return room.free < reserve / 2
    }

    /// Called after the history has grown by this many bytes. Usually the background thread enforces the limits. If it
    /// is behind by more than one version, the adding thread does it, without locks (``catchUp()``).
    func noteGrowth(history bytes: UInt64) {
        guard !options.isReadOnly, let room = recentRoom else { return }
        let space = store.space
        let (history, deleted) = (UInt64(max(0, space.history)), UInt64(max(0, space.deleted)))
        let limit = bound(settings.historyShare)
        guard history > limit || deleted > bound(settings.deletedShare) || room.free < Self.reserve(of: room.total)
        else { return }
        // What was just added may go, also where there was nothing a moment ago.
        scheduleTrim(isUrgent: room.free < Self.reserve(of: room.total) / 2)
        guard bytes > 0, history > limit, history - limit > bytes, !retention.isPaused,
            options.clock.uptime() >= roomState.state.withLock(\.vainUntil)
        else { return }
        roomState.isBehind.store(true, ordering: .relaxed)
    }

    /// Called by a thread that has saved, with no lock held: a deletion reads the catalog, and so waits for the queue.
    func catchUp() {
        guard roomState.isBehind.load(ordering: .relaxed), roomState.givingUp.begin(mayWait: true) else { return }
        defer { roomState.givingUp.end() }
        // Only after it is done: other threads that save meanwhile wait for it, too, and do not exceed the limit again.
        guard roomState.isBehind.load(ordering: .relaxed) else { return }
        trimHistory()
        roomState.isBehind.store(false, ordering: .relaxed)
    }

    /// Has the background thread look at the bounds at once.
    /// - Parameter isUrgent: though there was nothing to give up a moment ago: now there is.
    func scheduleTrim(isUrgent: Bool = false) {
        let isFirst = roomState.state.withLock { state in
            if isUrgent { (state.vainUntil, state.reclaimable, state.news) = (0, nil, state.news &+ 1) }
            guard !state.isScheduled, options.clock.uptime() >= state.vainUntil else { return false }
            state.isScheduled = true
            return true
        }
        guard isFirst else { return }
        chores.after(0) { [weak self] in
            guard let self else { return }
            self.roomState.state.withLock { $0.isScheduled = false }
            self.trim()
        }
    }

    /// Gives up what is beyond the shares, and what the reserve needs.
    func trim() {
        if !noteTime().isPaused, roomState.givingUp.begin(mayWait: true) {
            trimHistory()
            trimDeleted()
            roomState.givingUp.end()
        }
        _ = makeRoom(mayWait: true)
        store.ballast.take()
    }

    private func trimHistory() {
        let limit = bound(settings.historyShare)
        guard store.space.history > Int64(clamping: limit) else { return }
        let news = roomState.state.withLock(\.news)
        let target = Int64(clamping: limit - limit / Self.slackPart)
        giveUpOldest(history: true, deleted: false, mayWait: false) { _ in
            UInt64(max(0, self.store.space.history - target))
        }
        if store.space.history > Int64(clamping: limit) { notLookingForAWhile(since: news) }
    }

    /// Nothing is left to give up: another look soon would find nothing either, unless there are news since this one.
    private func notLookingForAWhile(since news: UInt64) {
        let next = options.clock.uptime() + Self.vainNanoseconds
        roomState.state.withLock { if $0.news == news { $0.vainUntil = next } }
    }

    /// What has lain in the deleted area for too long, or is too much, oldest first.
    private func trimDeleted() {
        let clock = retention.clock
        let limit = bound(settings.deletedShare)
        let keep = settings.keepDeletedNanoseconds
        let hasTooMuch = store.space.deleted > Int64(clamping: limit)
        let target = Int64(clamping: hasTooMuch ? limit - limit / Self.slackPart : limit)
        giveUpOldest(history: false, deleted: true, mayWait: true) { candidate in
            clock.seen - candidate.time > keep ? .max : UInt64(max(0, self.store.space.deleted - target))
        }
    }

    // MARK: A full file system

    /// Gives up purgeable contents, oldest first, until the reserve and `wanted` bytes are free.
    /// - Parameter mustSucceed: nothing goes unless `wanted` bytes certainly become free.
    /// - Returns: whether anything went, or there is room already.
    func makeRoom(wanted: UInt64 = 0, mayWait: Bool, mustSucceed: Bool = false) -> Bool {
        // What could not be had if all were given up is not worth anything: a program may ask for any number of bytes.
        guard !options.isReadOnly,
            canHave(wanted, mayWait: mayWait, mustSucceed: mustSucceed, free: { self.room?.free ?? 0 }),
            let before = room
        else { return false }
        let (reserve, more) = Self.reserve(of: before.total).addingReportingOverflow(wanted)
        let needed = more ? UInt64.max : reserve
        guard before.free < needed else {
            // What was given up is just enough, and the next save needs as much again: that is no new shortage.
            if before.free - reserve > reserve / Self.slackPart { endShortage() }
            return true
        }
        guard options.clock.uptime() >= roomState.state.withLock(\.vainUntil) || wanted > before.free else {
            return wanted > 0 && before.free / 2 > wanted
        }
        // While another thread deletes, its deleted data is neither kept any more nor free yet. This waits for it if
        // allowed.
        let isMine = roomState.givingUp.begin(mayWait: mayWait)
        defer { if isMine { roomState.givingUp.end() } }
        if let free = room?.free, free > before.free, free >= needed { return true }
        let news = roomState.state.withLock(\.news)
        let given = giveUpOldest(history: true, deleted: true, mayWait: mayWait) { _ in
            self.letGoOfRemoved()
            return needed - min(needed, self.room?.free ?? .max)
        }
        letGoOfRemoved()
        let isExhausted = (room?.free ?? .max) < needed
        if isExhausted, given.count == 0 { notLookingForAWhile(since: news) }
        noteShortage(given, isExhausted: isExhausted)
        // Others may have made room since it was missing.
        return given.count > 0 || (room?.free ?? 0) / 2 > wanted
    }

    /// What is on its way to the disk, or is read for its hash, is open, and takes its room until it is let go.
    func letGoOfRemoved() {
        store.contents.letGoOfRemoved()
        pendingHashes.letGoOfRemoved()
    }

    func noteShortage(_ given: (count: Int, bytes: UInt64), isExhausted: Bool) {
        let isNew = roomState.state.withLock { state in
            let isNew = state.shortage == nil
            var shortage = state.shortage ?? RoomState.Shortage(since: now)
            shortage.contents += given.count
            shortage.bytes.addCapped(given.bytes)
            shortage.isExhausted = isExhausted
            (state.shortage, state.last) = (shortage, shortage)
            return isNew
        }
        guard isNew else { return }
        logger.warning(
            "the file system is nearly full: older versions and deleted files are given up, oldest first",
            metadata: ["contents": "\(given.count)", "bytes": "\(given.bytes)", "enough": "\(!isExhausted)"])
    }

    private func endShortage() { roomState.state.withLock { $0.shortage = nil } }

    /// Sentences for `status`.
    public var spaceNotes: [String] {
        guard let last = roomState.state.withLock(\.last), let room else { return [] }
        let reserve = Self.reserve(of: room.total)
        let isFull = room.free < reserve
        var note = "the file system \(isFull ? "is" : "was") nearly full"
        if last.contents > 0 {
            note += ": since \(last.since.stamp) \(last.contents) older or deleted contents "
                + "(\(Self.mebibytes(last.bytes))) were given up, oldest first"
        } else if !isFull {
            return []
        }
        guard last.isExhausted, isFull else { return [note] }
        let rest: String
        do {
            let left = try purgeable(history: true, deleted: true).count
            rest = left == 0
                ? "nothing is left that may be given up"
                : "what is left that may be given up (\(left)) goes next, and may not be enough"
        } catch {
            rest = "what is left that may be given up cannot be told (\(error))"
        }
        return [
            note,
            "\(Self.mebibytes(room.free)) are free, \(Self.mebibytes(reserve)) should be, and \(rest): "
                + "remove what you can "
                + "do without (while it is so full, that may free its room at once and cannot be undone), or move it "
                + "elsewhere; of pinned versions and conflicts, versionsctl purge FILE",
        ]
    }

    private static func mebibytes(_ bytes: UInt64) -> String {
        bytes < 10 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
    }

    // MARK: Oldest first

    /// Something that may be given up.
    struct Purgeable {
        enum Kind {
            case history(Version)
            case deleted(Deletion)
        }
        var kind: Kind
        /// When it was saved or deleted, in time seen.
        var time: Int64
        /// The same by the wall clock, for what is newer than the last look at the time.
        var wall: Timestamp
    }

    /// - Parameter missing: how many bytes are still to become free, now that this is the oldest; 0: it stays.
    @discardableResult
    private func giveUpOldest(
        history: Bool, deleted: Bool, mayWait: Bool, _ missing: (Purgeable) -> UInt64
    ) -> (count: Int, bytes: UInt64) {
        var given: (count: Int, bytes: UInt64) = (0, 0)
        do {
            var candidates = try purgeable(history: history, deleted: deleted)[...]
            while let oldest = candidates.first {
                let missing = missing(oldest)
                guard missing > 0 else { break }
                switch oldest.kind {
                case .history:
                    let versions = Self.oldest(candidates, of: missing)
                    candidates = candidates.dropFirst(versions.count)
                    let going = versions.filter { isStillHistory($0) }
                    guard !going.isEmpty else { continue }
                    given.bytes.addCapped(try giveUp(going, mayWait: mayWait))
                    given.count += going.count
                case .deleted(let deletion):
                    candidates = candidates.dropFirst()
                    let remove = { (names: borrowing NamesHeldAlone) throws -> UInt64 in
                        try self.remove(names, deletion).bytes
                    }
                    let bytes = mayWait ? try names.writing(remove) : try names.writingIfFree(remove)
                    guard let bytes else { continue }
                    given = (given.count + 1, given.bytes + bytes)
                }
            }
        } catch {
            logger.warning("what is purgeable could not be given up: \(error)")
        }
        return given
    }

    /// The versions that these begin with, as many as take up so much. Those of a long history go together: whatever
    /// remains of it is looked through for what went back to them, once.
    private static func oldest(_ candidates: ArraySlice<Purgeable>, of missing: UInt64) -> [Version] {
        var (versions, contents, bytes): ([Version], Set<ContentID>, UInt64) = ([], [], 0)
        for candidate in candidates.prefix(mostAtOnce) {
            guard bytes < missing, case .history(let version) = candidate.kind else { break }
            versions.append(version)
            if contents.insert(version.content).inserted { bytes.addCapped(min(Occupied.whole(version.size), missing)) }
        }
        return versions
    }

    func purgeable(history: Bool, deleted: Bool) throws -> [Purgeable] {
        roomState.walks.add(1, ordering: .relaxed)
        let clock = retention.clock
        var result: [Purgeable] = []
        let all = try store.allVersions()
        if history {
            let kept = Thinning.protected(all, bases: observers.bases)
            var protected: [ContentID: UInt64] = [:]
            for version in all where version.kind != .current {
                if kept.contains(version.id) {
                    protected[version.content] = version.size
                } else {
                    result.append(
                        Purgeable(kind: .history(version), time: clock.seenTime(of: version.saved), wall: version.saved)
                    )
                }
            }
            let bytes = protected.values.cappedSum
            roomState.state.withLock { $0.protected = bytes }
        }
        if deleted {
            // What hangs on a deleted document, too: pinned versions and conflicts stay.
            let held = Set(all.filter { $0.kind == .conflict || $0.flags.contains(.pinned) }.map(\.item))
            for deletion in try store.deletions(within: nil) where deletion.item.map({ !held.contains($0) }) ?? true {
                result.append(
                    Purgeable(
                        kind: .deleted(deletion), time: clock.seenTime(of: deletion.deleted), wall: deletion.deleted))
            }
        }
        return result.sorted { ($0.time, $0.wall) < ($1.time, $1.wall) }
    }
}
