// What a save knows of its item's other versions without asking the catalog.

import Testing
import VersionModel

@testable import Container

@Suite struct SiblingsTests {
    private func version(_ kind: VersionKind, hash: [UInt8]?, size: UInt64 = 4) -> Version {
        let now = Timestamp(nanoseconds: 1)
        return Version(
            id: .random(), item: .random(), kind: kind, content: .random(), size: size, modified: now, saved: now,
            time: HybridTime(wall: now, logical: 0), device: .random(),
            author: Author(userID: 0, user: "", program: "", process: 0), hash: hash,
            attributes: Attributes(mode: 0o644, owner: 0, group: 0))
    }

    @Test("A new item has no other version of any content")
    func newItem() {
        #expect(Siblings(isComplete: true).mayHave([1], size: 4) == false)
        #expect(Siblings(isComplete: false).mayHave([1], size: 4) == nil)
    }

    @Test("A content is known again by hash and size")
    func contents() {
        var siblings = Siblings(isComplete: true)
        siblings.add(version(.history, hash: [1]))
        #expect(siblings.mayHave([1], size: 4) == true)
        #expect(siblings.mayHave([1], size: 5) == false)
        #expect(siblings.mayHave([2], size: 4) == false)
        siblings.add(version(.history, hash: nil))
        #expect(siblings.mayHave([2], size: 4) == nil, "nobody knows what the other one holds")
        #expect(siblings.isComplete)
    }

    @Test("A loser is settled once, and only a loser")
    func conflicts() {
        var siblings = Siblings(isComplete: true)
        let (loser, old) = (version(.conflict, hash: [1]), version(.history, hash: [2]))
        siblings.add(loser)
        siblings.add(old)
        #expect(siblings.takeConflict(old.id) == nil)
        #expect(siblings.takeConflict(loser.id) == loser.content)
        #expect(siblings.takeConflict(loser.id) == nil)
    }

    @Test("What the catalog says completes it, and what came meanwhile stays")
    func catalog() {
        var siblings = Siblings(isComplete: false)
        let (early, late) = (version(.conflict, hash: [1]), version(.conflict, hash: [2]))
        siblings.add(late)
        siblings.add(all: [early, version(.current, hash: [3])])
        #expect(siblings.isComplete)
        #expect(siblings.takeConflict(early.id) != nil && siblings.takeConflict(late.id) != nil)
        #expect(siblings.mayHave([3], size: 4) == false, "the current version is no sibling")
    }

    @Test("With too many the catalog is asked")
    func bound() {
        var siblings = Siblings(isComplete: true)
        for number in 0..<5000 { siblings.add(version(.history, hash: [UInt8(number & 255), UInt8(number >> 8)])) }
        #expect(siblings.mayHave([77, 77], size: 4) == nil)
    }
}
