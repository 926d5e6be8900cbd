// The names that deleted things have, worked out once per directory and not for every look-up in it.

import CLinux
import Glibc
import Synchronization
import VersionModel

/// What was deleted from a directory, by name.
struct DeletionListing: Sendable {
    let children: [BrowseChild]
    /// The documents that were deleted under each name, newest deletion first.
    let documents: [FileName: [ItemID]]
    private let byName: [FileName: BrowseSubject]

    init(_ children: [BrowseChild], documents: [FileName: [ItemID]]) {
        self.children = children
        self.documents = documents
        byName = Dictionary(children.map { ($0.name, $0.subject) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(name: FileName) -> BrowseSubject? { byName[name] }
}

/// The listings of the last few directories. One counts for a second, and only until something happens in the
/// container: purging may leave no row in the change feed. Lock order: last.
final class DeletionListings: Sendable {
    private static let lifetimeNanoseconds: Int64 = 1_000_000_000
    private static let capacity = 8

    private struct Entry {
        var listing: DeletionListing
        var sequence: UInt64
        var time: Int64
    }

    private let state = RankedMutex<[FileID: Entry]>([:])

    /// - Parameter sequence: the last of the change feed, read before the listing was made.
    subscript(directory: FileID, sequence: UInt64) -> DeletionListing? {
        get {
            state.withLock { entries in
                guard let entry = entries[directory], entry.sequence == sequence,
                    Self.now - entry.time < Self.lifetimeNanoseconds
                else { return nil }
                return entry.listing
            }
        }
        set {
            state.withLock { entries in
                if entries.count >= Self.capacity { entries.removeAll() }
                entries[directory] = newValue.map { Entry(listing: $0, sequence: sequence, time: Self.now) }
            }
        }
    }

    func clear() { state.withLock { $0.removeAll() } }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Timestamp(time).nanoseconds
    }
}
