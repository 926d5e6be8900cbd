// How much of the kept contents is the last content of a deleted document.

import Lineage
import Synchronization
import VersionModel
import VersionStore

/// Counts what lies among the objects and is no history. The sum is kept up to date, and now and then added up anew.
/// Lock order: last; the catalog is read outside of it.
final class DeletedUse: Sendable {
    private struct State {
        var bytes: UInt64 = 0
        var isKnown = false
        /// What the list has changed by since it is being added up.
        var since: Int64?
        /// The last change when it was added up.
        var change: UInt64?
    }

    private let past: FactHistory
    private let store: ContainerState
    private let state = RankedMutex(State())
    private static let portion = 256

    init(_ past: FactHistory, of store: ContainerState) { (self.past, self.store) = (past, store) }

    /// The disk usage of history and of the deleted area.
    var sums: StateSpace {
        var sums = store.space
        let (bytes, isKnown) = state.withLock { ($0.bytes, $0.isKnown) }
        let deleted = min(Int64(clamping: bytes), max(0, sums.history))
        (sums.history, sums.deleted) = (sums.history - deleted, sums.deleted + deleted)
        sums.isComplete = sums.isComplete && isKnown
        return sums
    }

    /// The bytes of an entry among the objects.
    func size(of entry: DeletedFact) -> UInt64 {
        guard entry.kind == .deleted, let version = entry.version else { return 0 }
        return store.contents.allocated(ContentID(version.content))
    }

    /// Adds the sum up, unless nothing has changed since the last time.
    func addUp() throws {
        let last = try past.lastNumber()
        let isDue = state.withLock { state in
            guard state.change != last, state.since == nil else { return false }
            state.since = 0
            return true
        }
        guard isDue else { return }
        do {
            let bytes = try sum()
            state.withLock { state in
                let since = state.since ?? 0
                state = State(bytes: since < 0 ? bytes - min(bytes, since.magnitude) : bytes, isKnown: true)
                if since > 0 { state.bytes.addCapped(since.magnitude) }
                state.change = last
            }
        } catch {
            state.withLock { $0.since = nil }
            throw error
        }
    }

    private func sum() throws -> UInt64 {
        var (bytes, before): (UInt64, UInt64?) = (0, nil)
        repeat {
            let page = try past.lists.deleted(before: before, limit: Self.portion)
            for entry in page.elements { bytes.addCapped(size(of: entry)) }
            before = page.next
        } while before != nil
        return bytes
    }

    func add(_ bytes: UInt64) {
        state.withLock { state in
            state.bytes.addCapped(bytes)
            state.since = state.since.map { $0 + Int64(clamping: bytes) }
        }
    }

    func subtract(_ bytes: UInt64) {
        state.withLock { state in
            state.bytes -= min(state.bytes, bytes)
            state.since = state.since.map { $0 - Int64(clamping: bytes) }
        }
    }
}
