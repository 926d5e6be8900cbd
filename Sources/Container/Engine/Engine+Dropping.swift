// Which versions may go, and which contents may be lost.

import Lineage
import SystemPackage
import VersionModel

extension Engine {
    /// The versions of a document that programs which run work from.
    func runningBases(in document: DocumentNumber) throws(Errno) -> [VersionNumber] {
        try answer { (planning, _) in planning.runningBases(in: document) }
    }

    /// All versions of a document, and its unsettled conflicts.
    func versions(
        of document: DocumentNumber
    ) throws(Errno) -> (all: [VersionNumber], conflicts: [VersionNumber]) {
        while true {
            let log = PlanLog(known)
            let facts = Facts(over: log)
            let found = (facts.versions(of: document).map(\.number), facts.conflicts(of: document))
            if log.missing.isEmpty { return found }
            try load(log.missing)
        }
    }

    /// Whether a save of a document by a program would be a rival of its current version.
    func isRival(_ program: ActorNumber, in document: DocumentNumber) throws(Errno) -> Bool {
        try answer { (planning, facts) in
            facts.current(of: document).flatMap { current in
                planning.staleBase(of: program, in: document, current: current)
            } != nil
        }
    }
}

extension Engine {
    /// The change of a document's place in the deleted list.
    enum DocumentChange {
        case wasDeleted(VersionRow)
        case isBack(VersionRow)
    }

    /// Whether a document is in the deleted list by one of these rows, or was there before; nil if neither is so.
    func change(by row: NameRow, in recorded: [Fact]) throws(Errno) -> DocumentChange? {
        while true {
            let log = PlanLog(known)
            let change = Self.change(by: row, in: recorded, Facts(over: log), log)
            if log.missing.isEmpty { return change }
            try load(log.missing)
        }
    }

    private static func change(
        by row: NameRow, in recorded: [Fact], _ facts: Facts, _ log: PlanLog
    ) -> DocumentChange? {
        if row.file == nil {
            guard let document = facts.deletion(by: row)?.occupant.document else { return nil }
            return facts.current(of: document).flatMap { facts[$0] }.map { .wasDeleted($0) }
        }
        // Nothing has given it a name since it lost one, but for this row; and it was no move.
        guard row.document.number < row.number.number, let last = log.lastDeparture(of: row.document),
            !recorded.contains(.row(last)), log.names(of: row.document).map(\.number) == [row.number],
            log.rows(of: row.document, after: last.number).first?.number == row.number
        else { return nil }
        return facts.current(of: row.document).flatMap { facts[$0] }.map { .isBack($0) }
    }
}

extension Event {
    /// The program of a truncation by name, or at an opening.
    var truncater: ActorNumber? {
        switch self {
        case .open(let program, _, _, .replace, _), .truncate(let program, _): program
        default: nil
        }
    }

    /// Whether it takes bytes away, and adds none.
    var isTruncation: Bool {
        switch self {
        case .empty, .shorten: true
        default: truncater != nil
        }
    }
}
