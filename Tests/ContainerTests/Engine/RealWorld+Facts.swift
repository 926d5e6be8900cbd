// What a real world records of facts, and its time.

import Lineage
import LineageWorlds
import Synchronization
import VersionModel
import VersionStore

@testable import Container

extension RealWorld: FactRecorder {
    func isSound(_ log: any FactLog) -> Bool { true }
    var log: any FactLog { ListedFacts(recorded: state.withLock(\.told)) }

    func reserve(_ count: UInt64) -> UInt64 {
        state.withLock { state in
            defer { state.next += count }
            return state.next
        }
    }

    func finish(_ first: UInt64) {}

    func describe(_ facts: [Fact]) {}

    func commit(_ told: FactTransaction, from first: UInt64, last: UInt64) {
        state.withLock { if !$0.isDead { $0.told += told.facts } }
    }
}

extension RealWorld: WallClock {
    func now() -> Timestamp { state.withLock(\.now) }

    func uptime() -> Int64 { 0 }
}

extension Fact {
    /// The number that the fact is known by; nil if it is about another fact.
    var recordedNumber: UInt64? {
        switch self {
        case .row(let row): row.number.number
        case .version(let version): version.number.number
        default: nil
        }
    }

    /// The fact without where a version has its bytes.
    var withoutContent: Fact {
        let none = Content(file: FileID(0), generation: 0)
        switch self {
        case .version(var version):
            version.content = none
            return .version(version)
        case .amend(var version):
            version.content = none
            return .amend(version)
        default: return self
        }
    }
}
