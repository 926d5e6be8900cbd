// The open handles of a file, and its registration for passthrough.

import Synchronization

/// Counts a node's open handles and keeps its backing id, which must be one and the same while any handle is open
/// (fs/fuse/iomode.c). Lock order: last; nothing is called under it.
///
/// Writers of a document's file come and go under the document's lock, so the result of a save's, rename's or close's
/// check of the others holds as long as it has that lock. The writers belong to the file: they stay with it under any
/// name and document.
///
/// A part of its node instead of an object: a tree of 200,000 files has one for each in memory.
struct Openings: ~Copyable, Sendable {
    struct State {
        var readers = 0
        /// The writers, from admission to release, in that order.
        var writers: [OpenFile] = []
        /// Whether the kernel caches this file's pages, because a handle is served without passthrough.
        var cached = false
        /// 0: none.
        var backing: Int32 = 0
        /// Whether a writable mapping may outlive its handle.
        var maybeMapped = false
        var count: Int { readers + writers.count }
    }

    let state = RankedMutex(State())
}
