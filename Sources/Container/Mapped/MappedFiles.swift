// Shared mappings that outlive close(2). The kernel tells of none of their stores, and no time moves at a store into a
// page that waits to be written already: the file is kept, synchronized and compared until the mapping is gone.

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel

/// The files that may be mapped: when each is looked at, and until when. What a look does with the content it leaves to
/// a ``MappedFileKeeper``.
final class MappedFiles: Sendable {
    /// How often a mapped file is looked at. A store is a version once two looks have found the same.
    static let mappingNanoseconds: Int64 = 2_500_000_000
    /// How soon a file is looked at of which it seems that it is mapped. The kernel may not have closed its own
    /// descriptor yet, which happens a moment after it has told of the close.
    private static let firstLookNanoseconds: Int64 = 1_000_000

    private struct Link { weak var keeper: (any MappedFileKeeper)? }

    let serving: Serving
    let logger: Logger
    /// Synchronizing a file may take long, and no hashing may hold it up.
    let watches = Scheduler()
    /// For the first look at a file, which keeps what a close has acknowledged: no other file holds it up.
    let firstLooks = Scheduler()
    private let nodes: NodeTable
    /// How long a file is watched of which it cannot be told whether it is mapped, while nothing in it changes.
    private let patience: Int64
    private let watched = MappingWatch()
    private let link = RankedMutex(Link())

    init(nodes: NodeTable, serving: Serving, patience: Int64, logger: Logger) {
        (self.nodes, self.serving) = (nodes, serving)
        (self.patience, self.logger) = (patience, logger)
    }

    /// Says where contents are kept.
    func connect(_ keeper: any MappedFileKeeper) { link.withLock { $0.keeper = keeper } }

    /// Nil once the container is not in use any more.
    var keeper: (any MappedFileKeeper)? { link.withLock { $0.keeper } }

    func start() {
        watches.start()
        firstLooks.start()
    }

    func end() {
        firstLooks.end()
        watches.end()
    }

    func isWatched(_ node: Node) -> Bool { watched.isWatched(node) }

    /// A handle that could be mapped for writing is about to be closed: nothing of the file is given up or cached until
    /// it is known that no program has it mapped.
    func noteMappable(_ file: OpenFile) {
        guard file.mayBeMapped, file.state.withLock(\.isPassed) else { return }
        file.node.openings.state.withLock { $0.maybeMapped = true }
        keeper?.mayBeMapped(file.node)
    }

    /// A writer of the file was closed, and its descriptor with it: finds out whether a mapping goes on.
    func settleMapping(of node: Node, by requester: Requester?) {
        guard node.openings.state.withLock({ $0.maybeMapped && $0.writers.isEmpty }) else { return }
        let isMapped = mappings(of: node) != .none
        // Stores from before the file was opened again are looked at once more.
        if isMapped || watched.isWatched(node) { return watchMapping(of: node, by: requester) }
        endMapping(of: node)
    }

    /// Looks after a file that is mapped, or that a program from before this mount writes to.
    func watchMapping(of node: Node, by requester: Requester?) {
        let chain = nodes.chain(node).map(\.node)
        let held = chain.isEmpty ? [node] : chain
        let (turn, isNew) = watched.begin(node, holding: held)
        if isNew { for node in held { nodes.retain(node) } }
        let look = MappingWatch.Look(requester: requester)
        lookAgain(at: node, turn, look, in: Self.firstLookNanoseconds, on: firstLooks)
    }

    private func lookAgain(
        at node: Node, _ turn: UInt64, _ look: MappingWatch.Look, in time: Int64, on scheduler: Scheduler
    ) {
        scheduler.after(time) { [weak self] in
            guard let self, self.watched.isIn(turn, node) else { return }
            self.lookAt(mapped: node, turn, look)
        }
    }

    private func lookAt(mapped node: Node, _ turn: UInt64, _ last: MappingWatch.Look) {
        let began = Scheduler.now
        var look = last
        let isOver = look.isOver(
            mappings(of: node), hasWriters: node.hasWriters, now: began, patience: patience)
        do {
            try keeper?.capture(mapped: node, &look, isOver: isOver, by: nil, mayWait: true)
            // A store has begun the wait anew.
            if look.synchronized != last.synchronized { look.unanswered = nil }
        } catch {
            let path = nodes.path(node) ?? .root
            logger.error("what was stored through a mapping could not be kept: \(error)", metadata: ["file": "\(path)"])
        }
        // A slow disk makes no difference to when it is looked at next.
        guard isOver else {
            let rest = Self.mappingNanoseconds - (Scheduler.now - began)
            return lookAgain(at: node, turn, look, in: max(rest, Self.mappingNanoseconds / 10), on: watches)
        }
        guard let held = watched.end(turn, node) else { return }
        endMapping(of: node)
        for node in held { keeper?.forget(node.id, lookups: 1) }
    }

    /// At the end of the mount, the content that was stored until now becomes a version, and is kept: the mapping may
    /// go on.
    func settleAll() {
        for node in watched.takeAll() {
            var look = MappingWatch.Look(requester: nil)
            do { try keeper?.capture(mapped: node, &look, isOver: false, by: nil, mayWait: false) } catch {
                logger.error("what was stored through a mapping could not be kept: \(error)")
            }
        }
    }

    /// Whether a file that no handle has open for writing may still be written to: a read lease is refused then.
    private func mappings(of node: Node) -> WritableMappings.Answer {
        // A descriptor that the kernel was given for reading and writing by itself may count as a writer.
        serving.passthrough.drop(node)
        do throws(Errno) {
            guard let check = try keeper?.openForLease(node) else { return .none }
            return withExtendedLifetime(check) { WritableMappings.ask(check.raw) }
        } catch {
            // A file that is out of reach is no document any more; any other error may be over the next time.
            return error == .noSuchFileOrDirectory || error.rawValue == ESTALE ? .none : .unknown
        }
    }

    /// No program has the file mapped, unless a writer has come meanwhile: then the close of that writer asks again.
    private func endMapping(of node: Node) {
        let isOver = node.openings.state.withLock { openings in
            if openings.writers.isEmpty { openings.maybeMapped = false }
            return openings.writers.isEmpty
        }
        guard isOver, !watched.isWatched(node) else {
            // Another release may have found a mapping meanwhile.
            if watched.isWatched(node) { node.openings.state.withLock { $0.maybeMapped = true } }
            return
        }
        keeper?.mappingEnded(of: node)
    }
}
