// What programs have read of files of which no fact tells yet.

import Collections
import DequeModule
import Lineage
import VersionModel

/// Remembers readers until their file is adopted: then they have seen its first version, if it has not changed since.
final class EarlyReads: Sendable {
    private struct Read {
        var size: UInt64
        var modified: Timestamp
        var actors: [ActorNumber]
    }

    private struct State {
        var reads: [FileID: Read] = [:]
        var order: Deque<FileID> = []
    }

    /// Of more files than these the oldest are forgotten: their readers conflict with nothing.
    private static let most = 30_000

    /// Innermost.
    private let state = RankedMutex(State())

    func note(_ file: FileID, _ stat: FileStat, by actor: ActorNumber) {
        state.withLock { state in
            if let known = state.reads[file], known.size == stat.size, known.modified == stat.modified {
                if !known.actors.contains(actor) { state.reads[file]?.actors.append(actor) }
                return
            }
            let isNew = state.reads[file] == nil
            state.reads[file] = Read(size: stat.size, modified: stat.modified, actors: [actor])
            guard isNew else { return }
            state.order.append(file)
            while state.order.count > Self.most, let oldest = state.order.popFirst() { state.reads[oldest] = nil }
        }
    }

    /// A program's read of a file does not count.
    func forget(_ file: FileID, by actor: ActorNumber) {
        state.withLock { $0.reads[file]?.actors.removeAll { $0 == actor } }
    }

    /// The programs that have read what a file holds.
    func take(_ file: FileID, _ stat: FileStat?) -> [ActorNumber] {
        state.withLock { state in
            guard let read = state.reads.removeValue(forKey: file), let stat, read.size == stat.size,
                read.modified == stat.modified
            else { return [] }
            return read.actors
        }
    }
}
