// How much room could be made: asked before anything is given up, so that nothing goes for a call that cannot succeed.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// The bytes that could be given up on a full file system.
struct Reclaimable {
    /// At most: as much as their sizes say.
    var possible: UInt64 = 0
    /// At least: blocks that nothing else shares; counted only if it was asked for.
    var certain: UInt64?
    /// The space of history and of the deleted area when it was counted: another one makes it void.
    var history: Int64
    var deleted: Int64
    /// Uptime from which on it is counted anew in any case.
    var end: Int64
}

extension LiveContainer {
    private static let countNanoseconds: Int64 = 10_000_000_000

    /// Whether so many bytes can be had, all that may go being given up.
    ///
    /// - Parameter mustSucceed: in bytes that certainly become free; else in those that may.
    func canReclaim(_ wanted: UInt64, free: UInt64, mustSucceed: Bool) -> Bool {
        guard wanted > free else { return true }
        let kept = UInt64(max(0, store.space.history)) + UInt64(max(0, store.space.deleted))
        guard wanted - free <= kept else { return false }
        let known = reclaimable(certainly: mustSucceed)
        return wanted - free <= (mustSucceed ? known.certain ?? 0 : known.possible)
    }

    /// The same once another thread has given up what it is about to: until then that is neither counted nor free.
    ///
    /// - Parameter mayWait: whether the caller holds no lock.
    /// - Parameter free: asks for the free bytes, again after the wait.
    func canHave(_ wanted: UInt64, mayWait: Bool, mustSucceed: Bool, free: () -> UInt64) -> Bool {
        if canReclaim(wanted, free: free(), mustSucceed: mustSucceed) { return true }
        guard mayWait, roomState.givingUp.begin(mayWait: true) else { return false }
        roomState.givingUp.end()
        return canReclaim(wanted, free: free(), mustSucceed: mustSucceed)
    }

    /// Counted at most every ten seconds while nothing changes: a program that goes on writing to a full disk costs no
    /// walk through the catalog each time.
    func reclaimable(certainly: Bool) -> Reclaimable {
        let (space, time) = (store.space, options.clock.uptime())
        let (known, news) = roomState.state.withLock { ($0.reclaimable, $0.news) }
        if let known, known.history == space.history, known.deleted == space.deleted, time < known.end,
            !certainly || known.certain != nil
        {
            return known
        }
        var result = Reclaimable(history: space.history, deleted: space.deleted, end: time + Self.countNanoseconds)
        do { try count(&result, certainly: certainly) } catch {
            logger.warning("what may be given up cannot be counted: \(error)")
        }
        // A count that takes long holds for longer, or each failing call would count again.
        let now = options.clock.uptime()
        result.end = now + max(Self.countNanoseconds, 10 * (now - time))
        // What has come since may not be counted.
        roomState.state.withLock { if $0.news == news { $0.reclaimable = result } }
        return result
    }

    private func count(_ result: inout Reclaimable, certainly: Bool) throws {
        let candidates = try purgeable(history: true, deleted: true)
        let going = Set(candidates.compactMap { candidate -> VersionID? in
            if case .history(let version) = candidate.kind { version.id } else { nil }
        })
        // A content goes with the last version that it is the content of.
        let staying = Set(try store.allVersions().filter { !going.contains($0.id) }.map(\.content))
        var (seen, certain): (Set<ContentID>, UInt64) = ([], 0)
        for candidate in candidates {
            switch candidate.kind {
            case .history(let version):
                guard !staying.contains(version.content), seen.insert(version.content).inserted else { continue }
                result.possible.addCapped(Occupied.whole(version.size))
                if certainly { certain.addCapped(freed(by: store.contents.name(of: version.content))) }
            case .deleted(let deletion):
                result.possible.addCapped(Occupied.whole(deletion.size))
                if certainly { certain.addCapped(freed(by: store.deletedArea.name(of: deletion.id))) }
            }
        }
        if certainly { result.certain = certain }
    }

    /// The bytes that become free with a file of the state: none while it has another name, and no extents that a clone
    /// shares.
    private func freed(by place: (directory: FileDescriptor, name: String)) -> UInt64 {
        guard let stat = try? Backing.stat(path: place.name, in: place.directory.rawValue) else { return 0 }
        let blocks = stat.raw.blocks &* 512
        guard stat.isRegular else { return blocks }
        guard stat.links == 1 else { return 0 }
        let whole = Occupied.whole(stat.size)
        guard store.contents.canReflink || blocks < whole else { return blocks }
        guard let file = try? Backing.open(
            path: place.name, in: place.directory.rawValue, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        else { return 0 }
        defer { Glibc.close(file) }
        guard store.contents.canReflink else {
            // ext4 has moments at which a file that it has just found blocks for has none.
            return lseek(file, 0, linux_SEEK_HOLE) < off_t(clamping: stat.size) ? blocks : whole
        }
        let own = linux_allocated(file, 0, off_t(clamping: stat.size), 1)
        return own < 0 ? 0 : UInt64(own)
    }

    // MARK: fallocate(2)

    /// Refuses an allocation that cannot succeed, before anything is kept or given up for it, and makes room for one
    /// that can: an allocation that fails halfway would have taken the room that is left.
    /// - Returns: the bytes that it needs beyond what the file has.
    func requireRoom(_ file: OpenFile, mode: Int32, offset: off_t, length: off_t) throws(Errno) -> UInt64 {
        let lacking = Self.lacking(file.descriptor.raw, mode: mode, offset: offset, length: length)
        guard lacking > 0 else { return 0 }
        var system = statvfs()
        try Backing.check { fstatvfs(root.raw, &system) }
        // Of another file system nothing is ours.
        guard !file.node.isForeign else { return lacking }
        let (wanted, isBeyond) = lacking.addingReportingOverflow(sizeToKeep(file))
        let canBeHad = !isBeyond && canHave(wanted, mayWait: true, mustSucceed: true) {
            fstatvfs(root.raw, &system)
            return UInt64(geteuid() == 0 ? system.f_bfree : system.f_bavail) &* UInt64(system.f_frsize)
        }
        guard canBeHad else { throw .noSpace }
        if wanted > UInt64(system.f_bavail) &* UInt64(system.f_frsize) {
            _ = makeRoom(wanted: wanted, mayWait: true, mustSucceed: true)
        }
        return lacking
    }

    /// The size of the content that is copied before the file changes.
    private func sizeToKeep(_ file: OpenFile) -> UInt64 {
        guard !store.contents.canReflink, let document = knownDocument(of: file.node) else { return 0 }
        return document.state.withLock { state in
            guard !state.isKept, !state.isReturning, !state.isUnversioned, let size = state.current?.size,
                size <= settings.maxFile
            else { return 0 }
            return size
        }
    }

    /// The bytes of a range that have no blocks yet. Where the file system does not tell, as few as may be: those
    /// behind the end of the file.
    private static func lacking(_ file: Int32, mode: Int32, offset: off_t, length: off_t) -> UInt64 {
        guard offset >= 0, length > 0, mode & ~linux_FALLOC_FL_KEEP_SIZE == 0 else { return 0 }
        let (end, isBeyond) = offset.addingReportingOverflow(length)
        guard !isBeyond else { return 0 }
        let present = linux_allocated(file, offset, length, 0)
        if present >= 0 { return UInt64(max(0, length - off_t(present))) }
        guard let stat = try? Backing.stat(file) else { return 0 }
        return UInt64(max(0, end - max(offset, off_t(clamping: stat.size))))
    }
}
