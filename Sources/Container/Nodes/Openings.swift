// How a file is open at the moment, and which registration for passthrough it has.

import Synchronization

/// Counts a node's open handles and keeps its backing id, which must be one and the same while any handle is open
/// (fs/fuse/iomode.c). Lock order: last; nothing is called under it.
///
/// Who writes to a document's file comes and goes with the document's lock held: what a save, a rename or a close finds
/// out about the others holds for as long as it has that lock. The writers belong to the file: they stay with it under
/// whatever name and document it goes on.
///
/// A part of its node, not an object of its own: a tree of 200,000 files is in memory with one for each.
struct Openings: ~Copyable, Sendable {
    struct State {
        var readers = 0
        /// Who has it open for writing, from being let in to the release, in that order.
        var writers: [OpenFile] = []
        /// The kernel caches this file's pages because a handle is served without passthrough.
        var cached = false
        /// 0: none.
        var backing: Int32 = 0
        /// A writable mapping may outlive its handle.
        var maybeMapped = false
        var count: Int { readers + writers.count }
    }

    let state = Mutex(State())
}
