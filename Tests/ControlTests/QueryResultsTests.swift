// What a client makes of the pieces of a query: what was added, changed and removed, against a plain list of paths.

import ControlProtocol
import Foundation
import Testing
import VersionModel
import VersionsClient

private func item(_ path: String, id: Int, size: UInt64 = 1) -> QueryItem {
    QueryItem(
        id: "\(id)", path: Path(path), type: .file, size: size, modified: Samples.noon, file: Path("/mnt/\(path)"))
}

private func piece(
    _ items: [QueryItem] = [], gone: [String] = [], unmatched: [String] = [], at sequence: UInt64? = nil,
    gathered: Bool = false
) -> QueryResultsNotification {
    QueryResultsNotification(
        query: 1, items: items, gone: gone.map { Path($0) }, unmatched: unmatched.map { Path($0) }, sequence: sequence,
        gathered: gathered)
}

extension QueryStep {
    /// `+added ~changed -removed`, a rename as `~new<old`.
    fileprivate var words: String {
        (removed.map { "-\($0.path)" } + changed.map { "~\($0.item.path)" + ($0.from.map { "<\($0)" } ?? "") }
            + added.map { "+\($0.path)" } + (isGathered ? ["."] : [])).joined(separator: " ")
    }
}

@Suite("Results of queries")
struct QueryResultsTests {
    @Test("the first set comes piece by piece, then each step says what it changed")
    func steps() {
        var results = QueryResults()
        #expect(results.take(piece([item("a/x", id: 1), item("b", id: 2)]))?.words == "+a/x +b")
        #expect(results.take(piece([item("a/y", id: 3)], at: 5, gathered: true))?.words == "+a/y .")
        #expect(results.take(piece([item("b", id: 2)], at: 6))?.words == "")
        #expect(results.take(piece([item("b", id: 2, size: 9), item("c", id: 4)], at: 7))?.words == "~b +c")
        // Gone and nothing else, with all below it.
        #expect(results.take(piece(gone: ["a"], at: 8))?.words == "-a/x -a/y")
        #expect(results.take(piece(gone: ["a", "nothing"], at: 9))?.words == "")
        #expect(results.items.map { "\($0.path)" } == ["b", "c"] && results.count == 2)
    }

    @Test("a directory that was renamed has its entries changed, not lost and found, however many pieces it takes")
    func renames() {
        var results = QueryResults()
        _ = results.take(piece([item("d", id: 1), item("d/x", id: 2), item("d/y", id: 3)], at: 1, gathered: true))
        #expect(results.take(piece([item("e", id: 1)], gone: ["d", "e"])) == nil)
        #expect(results.take(piece([item("e/x", id: 2)])) == nil)
        #expect(results.take(piece([item("e/y", id: 3, size: 2)], at: 2))?.words == "~e<d ~e/x<d/x ~e/y<d/y")
        // What comes back within the step was never gone.
        #expect(results.take(piece([item("e", id: 1), item("e/x", id: 2)], gone: ["e"], at: 3))?.words == "-e/y")
    }

    @Test("a directory that matches no more leaves what is in it")
    func unmatched() {
        var results = QueryResults()
        _ = results.take(piece([item("d", id: 1), item("d/x", id: 2)], at: 1, gathered: true))
        #expect(results.take(piece(unmatched: ["d"], at: 2))?.words == "-d")
        #expect(results.items.map { "\($0.path)" } == ["d/x"])
    }

    @Test("names of one file are entries of their own")
    func links() {
        var results = QueryResults()
        _ = results.take(piece([item("a", id: 1), item("b", id: 1)], at: 1, gathered: true))
        #expect(results.take(piece([item("c", id: 1)], gone: ["a"], at: 2))?.words == "~c<a")
        #expect(results.take(piece([item("d", id: 1)], at: 3))?.words == "+d")
    }

    @Test("a first set that comes again says only what is different, at its end")
    func again() {
        var results = QueryResults()
        _ = results.take(piece([item("a", id: 1), item("b", id: 2)], at: 1, gathered: true))
        results.beginAgain()
        #expect(results.take(piece([item("b", id: 2, size: 5)])) == nil)
        #expect(results.take(piece([item("c", id: 3)], at: 900, gathered: true))?.words == "-a ~b +c .")
        #expect(results.count == 2)
    }

    @Test("at random, the results are what a list of paths would be, and the steps lead there")
    func random() {
        var generator = SystemRandomNumberGenerator()
        for run in 0..<200 {
            var results = QueryResults()
            // What there is, and what the steps have told.
            var (truth, told): ([String: QueryItem], [String: QueryItem]) = ([:], [:])
            func path() -> String {
                (0...Int.random(in: 0...2)).map { _ in "\(Int.random(in: 0...3))" }.joined(separator: "/")
            }
            _ = results.take(piece(at: 0, gathered: true))
            for sequence in 1...50 {
                let gone = (0..<Int.random(in: 0...2)).map { _ in path() }
                let items = (0..<Int.random(in: 0...4)).map { _ in
                    item(path(), id: Int.random(in: 0...9), size: UInt64.random(in: 0...2, using: &generator))
                }
                for path in gone { truth = truth.filter { $0.key != path && !$0.key.hasPrefix(path + "/") } }
                for item in items { truth["\(item.path)"] = item }
                let isLast = Bool.random()
                guard let step = results.take(piece(items, gone: gone, at: isLast ? UInt64(sequence) : nil)) else {
                    #expect(!isLast)
                    continue
                }
                for item in step.removed {
                    #expect(told.removeValue(forKey: "\(item.path)") != nil, "run \(run): \(item.path) was not told")
                }
                for change in step.changed { if let from = change.from { told["\(from)"] = nil } }
                for change in step.changed { told["\(change.item.path)"] = change.item }
                for item in step.added { told["\(item.path)"] = item }
                #expect(told == truth, "run \(run), step \(sequence)")
                #expect(Set(results.items) == Set(truth.values) && results.count == truth.count)
            }
        }
    }
}
