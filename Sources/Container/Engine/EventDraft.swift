// A plan in the engine: what it was made of, and what it makes.

import Lineage
import SystemPackage
import VersionModel

/// A plan with all that has to be known before its system call is made.
struct EventDraft: Sendable {
    /// What a plan records and makes remembered.
    struct Outcome: Sendable {
        /// In the order in which they are recorded.
        var facts: [Fact]
        /// Those of them that others may see.
        var told: [Fact]
        var change: Remembered.Change
        /// The files of its scene, and whether a kill may leave bytes in them that are no version.
        var risks: [(file: FileID, isAtRisk: Bool)]
    }

    var plan: Plan
    var outcome: Outcome
    /// If the system call is refused, and leaves facts.
    var refused: Outcome?
    /// The same if it leaves none. It is made then alone: few calls are refused.
    var ifRefused: (@Sendable () -> Outcome)?
    var stamps: [FileID: Stamp]
    /// The files and documents that it may change.
    var subjects: Subjects
    /// The content that the call keeps by moving its file.
    var whole: WholeContent?
    /// A content that was kept before the time of its file was set, and that time.
    var touched: (content: Content, modified: Timestamp)?

    /// Whether the call writes over bytes in place. A file system brings a truncation or a change of names to the disk
    /// behind the copy that was made for it.
    var overwrites: Bool {
        switch plan.point {
        case .open, .write: true
        default: false
        }
    }

    /// The files that get a content before the call; nil if that is none.
    var making: [(file: FileID, version: VersionRow?)] {
        plan.before.compactMap { step in
            if case .make(let file, let version) = step { return (file, version) }
            return nil
        }
    }

    /// The largest number of its facts.
    var lastNumber: UInt64 { outcome.facts.lastNumber }

    /// The contents that are kept before the call.
    var keeping: [(content: Content, labels: [Label])] {
        plan.before.compactMap { step in
            guard case .keep(let content, let labels) = step, content != whole?.content else { return nil }
            return (content, labels)
        }
    }
}

extension [Fact] {
    /// The largest number of a row or a version among them; 0 if there is none.
    var lastNumber: UInt64 {
        reduce(0) { last, fact in
            switch fact {
            case .row(let row): Swift.max(last, row.number.number)
            case .version(let version): Swift.max(last, version.number.number)
            case .amend, .settle, .forget, .publish, .purge: last
            }
        }
    }
}

/// Why there is no draft yet.
enum Drafting: Sendable {
    case ready(EventDraft)
    /// Facts that are not in memory.
    case missing([Missing])
    /// The plan asks for more than its scene had.
    case unsure
    /// A file that nothing has watched has changed: it is compared by itself first (``Engine/noteUnseenChange(of:)``).
    case unseen(FileID)
}

extension Event {
    /// The place that a new file or directory gets.
    var madePlace: PlaceNumber? {
        switch self {
        case .create(_, let place, _, _, _, _, _), .makeDirectory(_, let place, _): place
        default: nil
        }
    }
}

extension SystemCall {
    /// What a kill between the call and its transaction may leave otherwise than the facts say. A file that a program
    /// writes to is marked already.
    var marks: [Mark] {
        switch self {
        case .create(let place, _), .unlink(let place), .makeDirectory(let place, _), .removeDirectory(let place):
            [.place(place)]
        case .rename(let from, let to), .link(let from, let to): [.place(from), .place(to)]
        case .exchange(let one, let other): [.place(one), .place(other)]
        case .name(let file, let place): [.file(file), .place(place)]
        case .truncate(let file, _): [.file(file)]
        case .open, .write: []
        }
    }

    /// The file or directory that the call makes.
    var madeFile: FileID? {
        switch self {
        case .create(_, let file), .makeDirectory(_, let file): file
        default: nil
        }
    }

    /// The place that it gets.
    var madePlace: PlaceNumber? {
        switch self {
        case .create(let place, _), .makeDirectory(let place, _): place
        default: nil
        }
    }
}
