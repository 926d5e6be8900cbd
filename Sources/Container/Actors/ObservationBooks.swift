// The observations of all actors, updated in the background.

import Synchronization
import VersionModel

/// An open or a save adds only a note. A query processes the notes first, so its answer is complete. Lock order:
/// `books`, then `notes`; no other lock is taken under them.
final class ObservationBooks: Sendable {
    private struct Note {
        var kind: Observations.Kind
        var item: ItemID
        var version: VersionID
        var actor: FileActor
        var time: Int64
    }

    /// The number of waiting notes at which the adding thread processes them.
    private static let mostNotes = 16_384

    private struct Noted {
        /// In the order of the events.
        var notes: [Note] = []
        /// Whether ``workIn()`` is about to be called.
        var isAwaited = false
    }

    private let books = RankedMutex(Observations(), .books)
    private let noted = RankedMutex(Noted())
    private let firstNote = Hook()

    /// Sets an action for the first note after ``workIn()``. The action makes a background thread call that soon.
    func whenNoted(_ action: @escaping @Sendable () -> Void) { firstNote.set(action) }

    func note(_ kind: Observations.Kind, of item: ItemID, version: VersionID, by actor: FileActor, at time: Int64) {
        let (count, isFirst) = noted.withLock { noted in
            noted.notes.append(Note(kind: kind, item: item, version: version, actor: actor, time: time))
            defer { noted.isAwaited = true }
            return (noted.notes.count, !noted.isAwaited)
        }
        if isFirst { firstNote.call() }
        if count >= Self.mostNotes { read { _ in } }
    }

    func workIn() {
        noted.withLock { $0.isAwaited = false }
        read { _ in }
    }

    /// The observations with all notes.
    func read<Result>(_ body: (inout Observations) -> Result) -> Result {
        books.withLock { books in
            let notes = noted.withLock { noted in
                defer { noted.notes = [] }
                return noted.notes
            }
            for note in notes {
                books.record(note.kind, of: note.item, version: note.version, by: note.actor, now: note.time)
            }
            return body(&books)
        }
    }
}
