// What may be given up, as the policy of space sees it: it decides what goes and when, and a core knows what there is
// (DESIGN 7).

import VersionModel
import VersionStore

/// Something that may be given up.
struct Purgeable: Sendable {
    enum Kind: Sendable {
        case history(Thinning.Candidate)
        case deleted(DeletionID)
    }

    var kind: Kind
    /// When it was saved or deleted, in time seen.
    var time: Int64
    /// The size of its content.
    var bytes: UInt64
    /// The object that has its content; nil for a file of `deleted/`.
    var content: ContentID?
    /// How many versions have this content: it becomes free with the last of them.
    var sharing = 1
}

/// What of the purgeable things is meant.
struct PurgeableKinds: OptionSet, Sendable {
    let rawValue: UInt8

    static let history = PurgeableKinds(rawValue: 1)
    static let deleted = PurgeableKinds(rawValue: 2)
    static let all: PurgeableKinds = [.history, .deleted]
}

/// A part of a list, and what the next one begins behind; nil at the end. It may be empty and yet not be the last.
typealias PurgeablePage = (elements: [Purgeable], next: UInt64?)

/// A core whose history and deleted area are kept within bounds.
protocol PurgeableSource: AnyObject, Sendable {
    /// The disk usage of history and of the deleted area.
    var sums: StateSpace { get }
    /// Another number says that the purgeable things may be others.
    func lastChange() throws -> UInt64
    /// Adds the sums up where they are not known for certain.
    func addUp() throws

    /// What may be given up, oldest first: nothing of it is current, pinned, in conflict, the base of a conflict or of
    /// a program that runs.
    func purgeables(
        _ kinds: PurgeableKinds, after last: UInt64, by clock: RetentionClock
    ) throws -> PurgeablePage
    /// All versions but the current ones, the documents one after another, each as a whole.
    func histories(
        after item: ItemID?, by clock: RetentionClock
    ) throws -> (versions: [Thinning.Candidate], next: ItemID?)
    /// Versions as users see them, with the paths of their documents.
    func described(_ versions: [VersionID]) throws -> [(version: Version, path: TreePath)]

    /// Versions go, as far as they still may.
    /// - Parameter mayWait: whether the caller holds no lock.
    /// - Returns: how many went, and the bytes that became free.
    func giveUp(_ versions: [Thinning.Candidate], mayWait: Bool) throws -> (count: Int, bytes: UInt64)
    /// An entry of the deleted list goes.
    /// - Returns: the bytes that became free; nil if it stays.
    func giveUp(_ deletion: DeletionID, mayWait: Bool) throws -> UInt64?
    /// Closes removed files that something of the daemon's reads: an open file takes its room.
    func closeRemoved()
}
