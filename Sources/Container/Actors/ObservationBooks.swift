// The observations of all actors, brought up to date behind the back of who makes them.

import Synchronization
import VersionModel

/// What an open or a save adds is only noted; who asks has the notes worked in first, so the answer is what it would
/// have been. Lock order: `books`, then `notes`; nothing else is locked under them.
final class ObservationBooks: Sendable {
    private struct Note {
        var kind: Observations.Kind
        var item: ItemID
        var version: VersionID
        var actor: FileActor
        var time: Int64
    }

    /// So many notes may wait before whoever adds one works them in.
    private static let mostNotes = 16_384

    private struct Noted {
        /// In the order in which it happened.
        var notes: [Note] = []
        /// ``workIn()`` is going to be called.
        var isAwaited = false
    }

    private let books = Mutex(Observations())
    private let noted = Mutex(Noted())
    private let firstNote = Hook()

    /// `action` is called when something was noted for the first time since ``workIn()``, which it has called soon, by
    /// a thread that nobody waits for.
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

    /// The observations with all that was noted.
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
