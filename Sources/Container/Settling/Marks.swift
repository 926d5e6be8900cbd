// What a kill may leave otherwise than the facts say.

import Lineage
import VersionModel

/// Something to look at after a kill.
enum Mark: Hashable, Sendable {
    /// A name that is being changed, or that is known in memory alone.
    case place(PlaceNumber)
    /// A file that a program has open for writing, or with bytes that are no version yet.
    case file(FileID)
    /// A content that is being kept.
    case content(Content)
}

/// Marks that outlive the process. A mark that is added twice is there until it is removed twice.
protocol Marks: Sendable {
    func add(_ mark: Mark)
    func remove(_ mark: Mark)
}

/// Marks for a tree that is not settled.
struct NoMarks: Marks {
    func add(_ mark: Mark) {}
    func remove(_ mark: Mark) {}
}

extension Engine {
    /// Notes what a kill would leave from now on: files at risk, and names that only memory knows.
    func mark(_ outcome: EventDraft.Outcome) {
        for (file, isAtRisk) in outcome.risks { lasting.set(.file(file), isAtRisk) }
        markNames(outcome.facts)
    }

    /// Notes names that only memory knows, and those that everyone sees by now.
    func markNames(_ recorded: [Fact]) {
        for fact in recorded {
            let place: PlaceNumber?
            switch fact {
            case .row(let row): place = row.place
            case .publish(let row): place = known.place(of: row)
            default: place = nil
            }
            if let place { lasting.set(.place(place), known.isUnpublished(place)) }
        }
    }
}

/// What is marked for longer than an event: files at risk, and names that only memory knows.
final class LastingMarks: Sendable {
    private let marks: any Marks
    /// Innermost.
    private let lasting = RankedMutex(Set<Mark>())

    init(_ marks: any Marks) { self.marks = marks }

    /// - Parameter isMarked: whether it is to be looked at from now on. Events that have the same subject call one
    ///   after the other.
    func set(_ mark: Mark, _ isMarked: Bool) {
        let isChanged = lasting.withLock { lasting in
            if isMarked { return lasting.insert(mark).inserted }
            return lasting.remove(mark) != nil
        }
        guard isChanged else { return }
        if isMarked { marks.add(mark) } else { marks.remove(mark) }
    }
}
