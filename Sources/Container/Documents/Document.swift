// A document in the memory of the mount: its item, the version in the file, and the work in progress.

import Synchronization
import VersionModel

/// A document of the live tree. One object exists per item, with any number of names; the ``DocumentIndex`` finds it by
/// each. Lock order: after the name lock, before the node table. Two documents' states are locked at the same time only
/// by a rename, which holds the name lock exclusively.
final class Document: Sendable {
    /// The maker of a name, which distinguishes ephemeral names from others of the same pattern.
    struct Maker {
        var actor: FileActor
        var program: String
        var time: Timestamp
        /// Whether the document was created under that name; otherwise it was only renamed to it.
        var hasMade = false
    }

    /// The item that continues a document's file under the name that the document had while its own was taken.
    struct StandIn {
        var item: ItemID
        /// The document's one version at that time, and the other item's version, which is its copy and child.
        var (first, copy): (VersionID, VersionID)
    }

    /// Refused saves.
    struct Refusal {
        /// The actors that had not seen the current version.
        var actors: Set<ActorRef>
        var version: VersionID
    }

    /// A save that won and the version that lost.
    struct Clash {
        var winner: VersionID
        var loser: VersionID
    }

    struct State {
        var item: ItemID
        /// Its places; empty after its deletion.
        var places: [Place]
        /// The version in the file; nil before the first save of a new document.
        var current: Version?
        /// The time of its creation, until the change feed has it.
        var created: Timestamp?
        /// Whether the catalog has rows for the item and its current version.
        var isRecorded = false
        /// Whether the file has been compared with its record in the catalog.
        var isVerified = false
        /// The file according to the catalog, until that comparison.
        var recorded: Item.LiveFile?
        /// The file's stamp when `current` was recorded; nil while it certainly differs.
        var stamp: Stamp?
        /// The version of a file that a program continues to write below the mount: no close has acknowledged it, and
        /// it is amended until it is kept.
        var provisional: VersionID?
        /// The stamp of the file when it was labeled as `current` (DESIGN 9: it had been synchronized).
        var labeled: Stamp?
        /// Whether the file has ``SaveMark``, because its name came back and it is not saved yet.
        var isMarked = false
        /// Whether `current`'s content is already kept as an object, in addition to the live file.
        var isKept = false
        /// Whether `current`'s content is only in the live file, and another item's version shares it.
        var sharesContent = false
        /// Whether `current` continued under another name before this one came back: another item has a version of its
        /// content.
        var hasParted = false
        /// The item at the place from before its name came back, if it had been made shortly before.
        var standIn: StandIn?
        /// Whether the name was away and came back: the file below is a new one and `current` is kept elsewhere.
        var isReturning = false
        /// Whether the name was away and came back, and the change feed does not have it yet.
        var isBackUntold = false
        /// The known other versions of the item.
        var siblings = Siblings(isComplete: true)
        /// Whether there may be versions that are no ancestors of `current`.
        var mayHaveBranches = false
        /// The actor that saved `current`; nil if it is unknown.
        var saver: FileActor?
        /// The actor of a further name, and the time: if it removes the other name soon, it has renamed the document.
        var linked: (actor: ActorRef, time: Timestamp)?
        /// The time of the last saved append (DESIGN 5.1: appends within 60 s amend one version).
        var appended: Timestamp?
        /// Whether all changes since `current` was recorded are appends.
        var isAppendedTo = false
        /// Whether a handle that could be mapped for writing was closed, so that the mapping may remain.
        var mayBeMapped = false
        /// Whether its file was renamed over another document: it has no name, and its last content is also the
        /// other's.
        var isAbsorbed = false
        /// Whether the deleted area has an entry for one of its names.
        var hasDeletedName = false
        /// Whether it began as another item's file under a name that only its maker used, and has no other content.
        var isParted = false
        /// Whether no versions and names of this document are recorded: it is ephemeral or ignored.
        var isUnversioned = false
        /// The program that made it under an ephemeral name, and the time.
        var maker: Maker?
        /// For a document that a rename separated from another: its first version.
        var origin: VersionID?

        /// The saves that were refused as stale, so that each is reported once.
        var refused: Refusal?
        /// The conflict of the last save, until a merge has been tried.
        var conflict: Clash?

        /// Whether a program has made it under a generated name, and no other program has saved it: if its maker
        /// removes or renames it, it leaves no trace. Until then only the memory has its one version, which is kept
        /// before an overwrite, like the version of a file from before the mount.
        var isUnannounced: Bool { maker?.hasMade == true && !isRecorded }

        /// The time of its creation, if its name is a program's generated one.
        var beginning: Timestamp? { isUnannounced ? maker?.time : nil }

        /// Whether the change feed has no event of this document yet.
        var isUntold: Bool { isUnannounced || isUnversioned || created != nil || current == nil }

        /// Whether the change feed has its name, independent of later saves.
        var isNameTold: Bool { !isUnannounced && !isUnversioned && created == nil }

        /// Whether the file's label says that an earlier state of `current` was synchronized.
        var hasGrownSinceLabeled: Bool { appended != nil && labeled != nil && labeled != stamp }

        /// The maker that may remove it without a trace, while it is known.
        var removableBy: Maker? {
            guard let maker, isUnversioned || isParted || maker.hasMade else { return nil }
            // The maker must not discard another program's save.
            return saver.map { maker.actor.isKin(of: $0) } ?? true ? maker : nil
        }

        init(item: ItemID, places: [Place]) {
            self.item = item
            self.places = places
        }

        /// Whether the file's content is not `current`.
        func differs(from stat: FileStat) -> Bool { stamp != Stamp(stat) }

        /// The same for the content alone: a changed `st_ctim` may come from metadata. Before an overwrite the content
        /// is kept unless it certainly is not `current`.
        ///
        /// A file with appends only still begins with `current`, and a version of it needs no more.
        func contentDiffers(from stat: FileStat) -> Bool {
            if isAppendedTo { return stamp?.file != stat.key }
            return stamp.map { $0.file != stat.key || $0.size != stat.size || $0.modified != stat.modified } ?? true
        }

        /// A value that changes with the content, but not with metadata. A set modification time counts as metadata, as
        /// long as the file holds a version and no write is in progress.
        func generation(of stat: FileStat) -> ContentGeneration {
            guard let current, let stamp, !isReturning, !isUnversioned, stamp.file == stat.key,
                stamp.size == stat.size, stamp.modified == stat.modified
            else { return ContentGeneration(item: item, file: stat) }
            // A version may be amended, so the time of the last save counts as well.
            return ContentGeneration(version: current.id, saved: current.time)
        }
    }

    /// Its item. An open needs it before it knows whether it has to wait, so it is readable without the lock, under
    /// which a save may wait for the catalog.
    let item: ItemID
    /// A recent value of ``State/isVerified``, for the same reason.
    let wasVerified: Atomic<Bool>
    let state: RankedMutex<State>
    /// Whether it was used since the index last removed unused documents.
    let wasUsed = Atomic<Bool>(true)

    /// Why `DocumentIndex.removeUnused` may lock documents under the index.
    static let unreferenced: StaticString = "only the index refers to it, so that no thread has its state locked"

    init(_ state: State) {
        item = state.item
        wasVerified = Atomic(state.isVerified)
        self.state = RankedMutex(state, .document)
    }

    /// Whether the catalog or the file itself has everything about the document: nothing is in progress except open
    /// handles, and no deadline for it is pending. Called for a document that only the index refers to, with the index
    /// locked.
    func isRestorable(now: Timestamp) -> Bool {
        state.withLock(outOfOrder: Self.unreferenced) { state in
            guard let current = state.current, let stamp = state.stamp, state.places.count == 1,
                !state.isReturning, !state.isMarked, !state.isKept, !state.isAppendedTo, !state.isUnversioned,
                state.maker == nil, state.refused == nil, state.conflict == nil, state.provisional == nil,
                state.labeled == nil, !state.mayBeMapped
            else { return false }
            guard stamp.size == current.size, stamp.modified == current.modified else { return false }
            // Appends within a minute amend one version, and an actor that removes a name soon after linking it has
            // renamed it.
            let last = max(state.appended?.nanoseconds ?? 0, state.linked?.time.nanoseconds ?? 0)
            guard now.nanoseconds - last > LiveContainer.appendWindowNanoseconds else { return false }
            if state.isRecorded { return true }
            let derived = VersionID(derivedFrom: state.item, size: current.size, modified: current.modified)
            return current.id == derived && !state.sharesContent
        }
    }

    /// A document from its catalog rows.
    convenience init(item: Item, current: Version, sharesContent: Bool, saver: FileActor? = nil) {
        var state = State(item: item.id, places: item.places)
        state.current = current
        state.recorded = item.file
        state.isRecorded = true
        state.mayHaveBranches = true
        state.siblings.doubt()
        state.sharesContent = sharesContent
        state.saver = saver
        self.init(state)
    }
}
