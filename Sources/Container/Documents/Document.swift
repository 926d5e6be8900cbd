// A document while the mount knows it: its item, the version in the file, and what is in progress.

import Synchronization
import VersionModel

/// A document of the live tree. One exists per item, however many names it has; the ``DocumentIndex`` finds it by any.
/// Lock order: behind the name lock, before the node table. The state is never locked for two documents at once but
/// by a rename, which holds the name lock alone.
final class Document: Sendable {
    /// Who made a name, for telling ephemeral names from others of the same pattern.
    struct Maker {
        var actor: FileActor
        var program: String
        var time: Timestamp
        /// The document began under that name; else it was only renamed to it.
        var hasMade = false
    }

    /// What goes on with a document's file under the name that the document had while its own was taken.
    struct StandIn {
        var item: ItemID
        /// The document's one version then, and the other item's, which is its copy and names it as its parent.
        var (first, copy): (VersionID, VersionID)
    }

    /// Saves that were refused.
    struct Refusal {
        /// Who had not seen it.
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
        /// Where it is; empty once it is deleted.
        var places: [Place]
        /// The version in the file; nil before the first save of a new document.
        var current: Version?
        /// When it was made, as long as the change feed has not been told.
        var created: Timestamp?
        /// The catalog has rows for the item and its current version.
        var isRecorded = false
        /// The file has been compared with what the catalog says of it.
        var isVerified = false
        /// The file as the catalog has it, until the two have been compared.
        var recorded: Item.LiveFile?
        /// The file when `current` was recorded; nil while it certainly differs.
        var stamp: Stamp?
        /// The version that was made of a file which a program goes on writing beneath the mount: no close has
        /// acknowledged it, and until it is kept it is amended.
        var provisional: VersionID?
        /// The stamp with which the file says itself that it is `current` (DESIGN 9: it had been synchronised).
        var labelled: Stamp?
        /// The file carries ``SaveMark``, because its name came back and it is not saved yet.
        var isMarked = false
        /// `current`'s content has been kept as an object already, beside the live file.
        var isKept = false
        /// `current`'s content is nowhere but in the live file, and a version of another item names it too.
        var sharesContent = false
        /// `current` went on under another name before this one came back: another item has a version of its content.
        var hasParted = false
        /// Who stands where it was before its name came back, if it had been made shortly before.
        var standIn: StandIn?
        /// The name was taken away and came back: the file below is a new one and `current` is kept elsewhere.
        var isReturning = false
        /// The name was taken away and came back, and the change feed has not been told.
        var isBackUntold = false
        /// What is known of the item's other versions.
        var siblings = Siblings(isComplete: true)
        /// There may be versions that are no ancestors of `current`.
        var mayHaveBranches = false
        /// Who saved `current`; nil if nobody can tell.
        var saver: FileActor?
        /// Who gave it a further name, and when: who takes the other name away at once has renamed it.
        var linked: (actor: ActorRef, time: Timestamp)?
        /// When the last append was saved (DESIGN 5.1: appends within 60 s amend one version).
        var appended: Timestamp?
        /// All that has changed since `current` was recorded was appended.
        var isAppendedTo = false
        /// A handle that could be mapped for writing was closed, and the mapping may go on.
        var mayBeMapped = false
        /// Its file was renamed over another document: it has no name, and its last content is the other's too.
        var isAbsorbed = false
        /// One of its names is noted in the deleted area.
        var hasDeletedName = false
        /// It began as another item's file under a name that only its maker wanted, and holds nothing else.
        var isParted = false
        /// Versions and names of this document are not recorded: it is ephemeral or ignored.
        var isUnversioned = false
        /// Who made it under an ephemeral name, and when.
        var maker: Maker?
        /// For a document that a rename made out of another: the version it started as.
        var origin: VersionID?

        /// The saves that were refused as stale, so that each is told once.
        var refused: Refusal?
        /// The conflict that the last save made, until someone has tried to merge it.
        var conflict: Clash?

        /// A program has made it under a name that it made up, and nobody has saved it over: if its maker removes or
        /// renames it, it leaves no trace. Until then its one version is known here, and like that of a file which was
        /// there before us it is kept before it is overwritten.
        var isUnannounced: Bool { maker?.hasMade == true && !isRecorded }

        /// When its name came to be, if that is a program's own.
        var beginning: Timestamp? { isUnannounced ? maker?.time : nil }

        /// The change feed has told nothing of this document so far.
        var isUntold: Bool { isUnannounced || isUnversioned || created != nil || current == nil }

        /// The change feed has told of its name, whether or not it was saved since.
        var isNameTold: Bool { !isUnannounced && !isUnversioned && created == nil }

        /// The file says of an earlier state of `current` that it was synchronised.
        var hasGrownSinceLabelled: Bool { appended != nil && labelled != nil && labelled != stamp }

        /// Who may remove it without a trace, while that is known.
        var removableBy: Maker? {
            guard let maker, isUnversioned || isParted || maker.hasMade else { return nil }
            // What somebody else has saved there is not the maker's to throw away.
            return saver.map { maker.actor.isKin(of: $0) } ?? true ? maker : nil
        }

        init(item: ItemID, places: [Place]) {
            self.item = item
            self.places = places
        }

        /// Whether the file holds something else than `current`.
        func differs(from stat: FileStat) -> Bool { stamp != Stamp(stat) }

        /// The same for the content alone: a changed `st_ctim` by itself may come from metadata. What is about to be
        /// overwritten is kept unless it certainly is not `current` any more.
        ///
        /// A file that was only appended to begins with `current` still, which is all that a version of it is.
        func contentDiffers(from stat: FileStat) -> Bool {
            if isAppendedTo { return stamp?.file != stat.key }
            return stamp.map { $0.file != stat.key || $0.size != stat.size || $0.modified != stat.modified } ?? true
        }

        /// Another one after each change of the content, the same after changes of metadata; a time that was set is one
        /// of these, as long as the file holds a version and not what is still being written.
        func generation(of stat: FileStat) -> ContentGeneration {
            guard let current, let stamp, !isReturning, !isUnversioned, stamp.file == stat.key,
                stamp.size == stat.size, stamp.modified == stat.modified
            else { return ContentGeneration(item: item, file: stat) }
            // Versions may be amended: the moment of the last save counts as well.
            return ContentGeneration(version: current.id, saved: current.time)
        }
    }

    /// Its item: what an open asks for before it knows whether it has to wait, and so without the lock, under which a
    /// save may be waiting for the catalog.
    let item: ItemID
    /// ``State/isVerified`` as it was a moment ago, likewise.
    let wasVerified: Atomic<Bool>
    let state: Mutex<State>
    /// It was asked for since the index looked last for what it may let go.
    let wasUsed = Atomic<Bool>(true)

    init(_ state: State) {
        item = state.item
        wasVerified = Atomic(state.isVerified)
        self.state = Mutex(state)
    }

    /// Whether the catalog, or the file itself, says all that there is to know of the document: nothing is in progress
    /// but that somebody may have it open, and what time may still change about it is over.
    func isRestorable(now: Timestamp) -> Bool {
        state.withLock { state in
            guard let current = state.current, let stamp = state.stamp, state.places.count == 1,
                !state.isReturning, !state.isMarked, !state.isKept, !state.isAppendedTo, !state.isUnversioned,
                state.maker == nil, state.refused == nil, state.conflict == nil, state.provisional == nil,
                state.labelled == nil, !state.mayBeMapped
            else { return false }
            guard stamp.size == current.size, stamp.modified == current.modified else { return false }
            // Appends within a minute amend one version; who takes a name away soon after linking it has renamed it.
            let last = max(state.appended?.nanoseconds ?? 0, state.linked?.time.nanoseconds ?? 0)
            guard now.nanoseconds - last > LiveContainer.appendWindowNanoseconds else { return false }
            if state.isRecorded { return true }
            let derived = VersionID(derivedFrom: state.item, size: current.size, modified: current.modified)
            return current.id == derived && !state.sharesContent
        }
    }

    /// A document whose catalog rows were read.
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
