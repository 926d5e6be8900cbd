// What the engine remembers of what programs have seen.

import Lineage
import Testing
import VersionModel

@Suite("What is remembered of reads") struct RememberedTests {
    private let document = DocumentNumber(1)

    private func note(_ remembered: inout Remembered, _ actor: UInt32, _ version: UInt64, isRead: Bool = false) {
        remembered.noteRead(
            by: ActorNumber(actor), of: VersionNumber(version), of: document, as: document,
            at: Timestamp(nanoseconds: Int64(version)), isRead: isRead)
    }

    @Test("A program that sees version after version takes no more memory for each, and others stay as they were")
    func many() {
        var remembered = Remembered()
        note(&remembered, 1, 2)
        note(&remembered, 2, 3, isRead: true)
        for version in UInt64(4)..<10_000 { note(&remembered, 2, version) }
        let seen = remembered.whole.observations
        #expect(seen.count < 128)
        #expect(seen.first { $0.actor == ActorNumber(1) }?.version == VersionNumber(2))
        #expect(seen.contains { $0.actor == ActorNumber(2) && $0.isRead })
        #expect(seen.suffix(16).map { $0.version?.number } == (9_984..<10_000).map(UInt64.init))
    }

    @Test("What is read once more is the last that was seen, and was read before")
    func again() {
        var remembered = Remembered()
        note(&remembered, 1, 2, isRead: true)
        note(&remembered, 2, 2)
        note(&remembered, 1, 2)
        let seen = remembered.whole.observations
        #expect(seen.map(\.actor) == [ActorNumber(2), ActorNumber(1)])
        #expect(seen.last?.isRead == true && seen.last?.isByRead == true && seen.last?.hadRead == true)
    }
}
