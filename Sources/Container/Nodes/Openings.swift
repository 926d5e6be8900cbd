// How a file is open at the moment, and which registration for passthrough it has.

import Synchronization

/// Counts a node's open handles and keeps its backing id, which must be one and the same while any handle is open
/// (fs/fuse/iomode.c). Lock order: last; nothing is called under it.
///
/// A part of its node, not an object of its own: a tree of 200,000 files is in memory with one for each.
struct Openings: ~Copyable, Sendable {
    struct State {
        var readers = 0
        var writers = 0
        /// The kernel caches this file's pages because a handle is served without passthrough.
        var cached = false
        /// 0: none.
        var backing: Int32 = 0
        /// A writable mapping may outlive its handle.
        var maybeMapped = false
        var count: Int { readers + writers }
    }

    let state = Mutex(State())
}
