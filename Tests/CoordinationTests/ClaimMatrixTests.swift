// Who waits for whom: the matrix against the tables that it was made from, cell by cell.

import Testing
import VersionModel

@testable import Coordination

/// All kinds of access: reads with each option, and writes.
let allAccessKinds: [AccessKind] =
    [[], .withoutChanges, .resolvesSymbolicLink, .immediatelyAvailableMetadataOnly, .forUploading]
    .map { AccessKind.reading($0) } + WritingOption.allCases.map { AccessKind.writing($0) }

/// The same, and reads with every set of options.
let allAccessKindsAndSets: [AccessKind] =
    (0..<16).map { AccessKind.reading(ReadingOptions(rawValue: $0)) }
    + WritingOption.allCases.map { AccessKind.writing($0) }

func path(_ text: String) -> TreePath { TreePath(bytes: Array(text.utf8)) ?? .root }

@Suite struct ClaimMatrixTests {
    /// The reference's names of kinds: r is any read, w an ordinary write, t one that takes the tree along.
    private func letter(_ kind: AccessKind) -> Character {
        switch kind {
        case .reading: "r"
        case .writing(.updating), .writing(.forMerging), .writing(.contentIndependentMetadataOnly): "w"
        case .writing(.forDeleting), .writing(.forReplacing), .writing(.forMoving): "t"
        }
    }

    /// Rows: the earlier claim r, w, t; columns: the later one. `x` waits.
    private static let same = ["r": "-xx", "w": "xxx", "t": "xxx"]

    private func cell(_ table: [String: String], _ row: Character, _ column: Character) -> Character? {
        guard let line = table[String(row)], let index = Array("rwt").firstIndex(of: column) else { return nil }
        return Array(line)[index]
    }

    struct Pair: CustomStringConvertible {
        var one: String
        var other: String
        var expected: [String: String]?
        var description: String { "\(one) and \(other)" }
    }

    /// Where two claims can be. Of contained ones the directory is always `one`.
    static let places: [Pair] = [
        Pair(one: "a", other: "a", expected: same),
        Pair(one: "d/a", other: "d/a", expected: same),
        Pair(one: "a", other: "b", expected: nil),
        Pair(one: "d/a", other: "d/b", expected: nil),
        Pair(one: "d", other: "db", expected: nil),
        Pair(one: "d", other: "d/a", expected: nil),
        Pair(one: "", other: "d/e/a", expected: nil),
        // A package is one item with all that is in it.
        Pair(one: "p.pack", other: "p.pack", expected: same),
        Pair(one: "p.pack", other: "p.pack/x", expected: same),
        Pair(one: "p.pack/x", other: "p.pack/y/z", expected: same),
        Pair(one: "p.pack/q.pack/x", other: "p.pack/y", expected: same),
        Pair(one: "P.PACK/x", other: "P.PACK", expected: same),
        Pair(one: "p.pack/x", other: "q.pack/x", expected: nil),
    ]

    @Test("every ordered pair of kinds, in every place", arguments: places)
    func everyPair(pair: Pair) {
        let packages = Packages(extensions: ["pack"])
        let isContained = pair.other.hasPrefix(pair.one.isEmpty ? "" : pair.one + "/") && pair.expected == nil
        for first in allAccessKindsAndSets {
            for second in allAccessKindsAndSets {
                let one = Access(path: path(pair.one), kind: first)
                let other = Access(path: path(pair.other), kind: second)
                // In a directory the row is the directory's: what is in it waits for one that takes the tree, and
                // one that takes the tree waits for whatever is in it.
                let expected: Character? =
                    if let table = pair.expected { cell(table, letter(first), letter(second)) }
                    else if isContained {
                        letter(first) == "t" ? "x" : "-"
                    } else { "-" }
                #expect(
                    waits(other, for: one, packages) == (expected == "x"),
                    "\(first) on \(pair.one), then \(second) on \(pair.other)")
                #expect(
                    waits(one, for: other, packages) == (expected == "x"),
                    "\(second) on \(pair.other), then \(first) on \(pair.one)")
            }
        }
    }

    private func waits(_ later: Access, for earlier: Access, _ packages: Packages) -> Bool {
        ClaimMatrix.waits(
            later: later.kind.strength, forEarlier: earlier.kind.strength,
            ClaimMatrix.relation(ofLater: later, toEarlier: earlier, packages))
    }

    @Test("two names of one file are one item")
    func hardLinks() {
        let item = ItemID(high: 1, low: 2)
        let one = Access(path: path("a"), item: item, kind: .writing(.updating))
        let other = Access(path: path("d/b"), item: item, kind: .reading([]))
        #expect(waits(other, for: one, Packages()))
        #expect(!waits(Access(path: path("d/b"), item: nil, kind: .reading([])), for: one, Packages()))
    }

    @Test("the machine agrees with the matrix", arguments: places)
    func machine(pair: Pair) {
        let packages = Packages(extensions: ["pack"])
        for first in allAccessKindsAndSets {
            for second in allAccessKindsAndSets {
                for isOnePurpose in [false, true] {
                    let one = Access(path: path(pair.one), kind: first)
                    let other = Access(path: path(pair.other), kind: second)
                    var arbiter = Arbiter(packages: packages)
                    let purposes = [Purpose(high: 0, low: 1), Purpose(high: 0, low: isOnePurpose ? 1 : 2)]
                    let claims = zip([one, other], purposes).enumerated().map { index, pair in
                        Claim(
                            id: ClaimID(UInt64(index)), connection: ConnectionID(UInt64(index)), accesses: [pair.0],
                            purpose: pair.1)
                    }
                    #expect(arbiter.request(claims[0], now: 0) == [.granted(claims[0].id, [one], .free)])
                    let waits = !isOnePurpose && waits(other, for: one, packages)
                    #expect(
                        arbiter.request(claims[1], now: 0) == (waits ? [] : [.granted(claims[1].id, [other], .free)]))
                    #expect(
                        arbiter.release(claims[0].id, now: 1)
                            == (waits ? [.granted(claims[1].id, [other], .free)] : []))
                    #expect(arbiter.release(claims[1].id, now: 1) == [])
                    #expect(arbiter.isEmpty && arbiter.nextDeadline == nil)
                }
            }
        }
    }
}
