// What changes are to a presenter, and where its item is behind them: tables, and a walk beside a tree of names.

import Coordination
import Foundation
import Testing
import VersionModel

@Suite("Presented items") struct PresentedItemTests {
    private static let own: UInt64 = 7

    private static func item(_ number: UInt64) -> ItemID { ItemID(high: 0, low: number) }

    private static func change(
        _ event: ChangeEvent, _ at: String, from: String? = nil, item: UInt64? = nil, origin: UInt64? = nil
    ) -> Change {
        Change(
            event: event, path: path(at), from: from.map { path($0) }, item: item.map { Self.item($0) },
            time: Timestamp(nanoseconds: 0), origin: origin)
    }

    private static func presented(_ at: String, item: UInt64? = nil) -> PresentedItem {
        PresentedItem(path: path(at), item: item.map { Self.item($0) }, origin: own)
    }

    private struct Case: CustomTestStringConvertible, Sendable {
        var presented: String
        var change: Change
        var relation: PresentedRelation?
        var place: String?
        var testDescription: String { "\(presented): \(change.event) \(change.path)" }

        init(_ presented: String, _ change: Change, _ relation: PresentedRelation?, place: String? = nil) {
            (self.presented, self.change, self.relation, self.place) = (presented, change, relation, place)
        }
    }

    private static let cases: [Case] = [
        Case("d/a", change(.saved, "d/a", item: 1), .item),
        Case("d/a", change(.attributes, "d/a"), .item),
        Case("d/a", change(.saved, "d/b", item: 2), nil),
        Case("d/a", change(.saved, "other", item: 1), .item),  // Another name of the same file.
        Case("d/a", change(.saved, "d/ab", item: 3), nil),
        Case("d/a", change(.deleted, "d/a", item: 1), .item),
        Case("d/a", change(.deleted, "d"), .item),
        Case("d/a", change(.undeleted, "d"), .item),
        Case("d/a", change(.attributes, "d"), nil),
        Case("d/a", change(.created, "d"), nil),
        Case("d/a", change(.renamed, "d/b", from: "d/a", item: 1), .item, place: "d/b"),
        Case("d/a", change(.renamed, "e", from: "d"), .item, place: "e/a"),
        Case("d/a", change(.renamed, "d/a", from: "d/b", item: 4), .item),  // Another file takes the name.
        Case("d/a", change(.renamed, "d/c", from: "d/b", item: 4), nil),
        Case("d", change(.created, "d/x/y"), .inDirectory),
        Case("d", change(.renamed, "d/x", from: "e/x"), .inDirectory),
        Case("d", change(.renamed, "e/x", from: "d/x"), .inDirectory),
        Case("d", change(.saved, "e/x"), nil),
        Case("", change(.saved, "e/x"), .inDirectory),
        Case("p.rtfd", change(.saved, "p.rtfd/x"), .inPackage),
        Case("p.rtfd", change(.renamed, "q.rtfd", from: "p.rtfd"), .item, place: "q.rtfd"),
        Case("d/a", change(.saved, "d/a", item: 1, origin: own), nil),
        Case("d/a", change(.saved, "d/a", item: 1, origin: 8), .item),
        Case("d/a", change(.renamed, "d/b", from: "d/a", item: 1, origin: own), nil, place: "d/b"),
        // Of versions everyone hears, whoever has made them.
        Case("d/a", change(.conflict, "d/a", item: 1, origin: own), .item),
        Case("d/a", change(.resolved, "d/a", item: 1, origin: own), .item),
        Case("d", change(.versionLost, "d/a", item: 1, origin: own), .inDirectory),
    ]

    @Test("each kind of change is to a presenter what the table says", arguments: cases)
    private func table(_ row: Case) {
        var presented = Self.presented(row.presented, item: row.presented == "d/a" ? 1 : nil)
        #expect(presented.hears(row.change, Packages(extensions: ["rtfd"])) == row.relation)
        #expect(presented.path == path(row.place ?? row.presented))
    }

    @Test("of two directories that change places each one's presenters go along") func exchanged() {
        var (there, back) = (Self.change(.renamed, "b", from: "a"), Self.change(.created, "a"))
        (there.detail.isExchange, back.detail.isExchange) = (true, true)
        for (before, after) in [("a", "b"), ("a/x", "b/x"), ("b", "a"), ("b/s/y", "a/s/y")] {
            var presented = Self.presented(before)
            #expect(presented.hears(there, Packages()) == .item)
            #expect(presented.hears(back, Packages()) == nil)
            #expect(presented.path == path(after))
        }
    }

    @Test("what was saved by a rename is not told as moved, and is not the file that was renamed")
    func savedByRename() {
        var presented = Self.presented("y", item: 1)
        #expect(presented.hears(Self.change(.saved, "y", item: 1), Packages()) == .item)
        var over = Self.change(.renamed, "y", from: "n", item: 2)
        over.version = VersionID(high: 0, low: 3)
        #expect(presented.hears(over, Packages()) == nil)
        // The other one has its own name back.
        #expect(presented.hears(Self.change(.saved, "n", item: 2), Packages()) == nil)
        #expect(presented.path == path("y") && presented.item == ItemID(high: 0, low: 1))
    }

    @Test("what has no place hears nothing")
    func nowhere() {
        var presented = PresentedItem(path: nil, item: nil, origin: Self.own)
        #expect(presented.hears(Self.change(.saved, "a"), Packages()) == nil)
        presented.place(at: path("a"), nil)
        #expect(presented.hears(Self.change(.saved, "a"), Packages()) == .item)
    }

    @Test("a backup by rename leaves the presenter at its name; what stays away is followed")
    func backups() {
        var presented = Self.presented("a", item: 1)
        #expect(presented.hears(Self.change(.renamed, "a~", from: "a", item: 1), Packages()) == .item)
        #expect(presented.path == path("a~"))
        #expect(presented.hears(Self.change(.saved, "a", item: 1), Packages()) == .item)
        #expect(presented.path == path("a"))
        #expect(presented.hears(Self.change(.saved, "a~", item: 2), Packages()) == nil)
        #expect(presented.hears(Self.change(.renamed, "b", from: "a", item: 1), Packages()) == .item)
        #expect(presented.hears(Self.change(.created, "a", item: 3), Packages()) == nil)
        #expect(presented.hears(Self.change(.saved, "b", item: 1), Packages()) == .item)
        #expect(presented.path == path("b"))
    }

    /// Names are moved about at random; a plain text says where the item is in the end.
    @Test("after any number of renames of files and directories the presenter is where the item is") func random() {
        let seed =
            ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
        print("PresentedItemTests: seed \(seed)")
        var dice = Dice(state: seed)
        let names = ["a", "b", "c"]
        var moves = 0
        for round in 0..<2_000 {
            var place = "a/b/c"
            var presented = Self.presented(place)
            for step in 0..<12 {
                let parts = place.split(separator: "/").map(String.init)
                // Often what the item lies in, or itself; else something else.
                let from = dice.below(2) == 0
                    ? parts.prefix(1 + dice.below(parts.count)).joined(separator: "/")
                    : (0...dice.below(3)).map { _ in dice.element(names) ?? "a" }.joined(separator: "/")
                let to = (dice.below(2) == 0 ? "" : "d/") + "\(step)"
                if place == from || place.hasPrefix(from + "/") {
                    place = to + place.dropFirst(from.count)
                    moves += 1
                }
                _ = presented.hears(Self.change(.renamed, to, from: from), Packages())
            }
            #expect(presented.path == path(place), "seed \(seed), round \(round)")
        }
        #expect(moves > 2_000)
    }
}
