// What a long history costs: a look-up in it, its listing, and giving it up, in ratios and not in milliseconds.

import CLinux
import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite("Long histories")
struct LongHistoryTests: OperationTesting {
    /// A document with so many older versions, as rows: none has an object.
    private func document(_ name: String, _ count: Int, in tree: BrowsedContainer) throws {
        try tree.save(name, "current")
        let item = try tree.item(name)
        let current = try #require(try tree.container.store.version(item.current))
        tree.container.store.commit(
            (0..<count).map { number in
                var version = current
                version.id = .random()
                version.kind = .history
                version.content = .random()
                version.saved = Timestamp(nanoseconds: 1_700_000_000_000_000_000 + Int64(number) * 1_000_000)
                version.time = HybridTime(wall: version.saved, logical: 0)
                return .version(version)
            })
        tree.container.store.flush()
    }

    /// The shortest of many tries, in nanoseconds: what else the machine does makes none shorter.
    private func shortest(of tries: Int, _ body: () throws -> Void) throws -> Int64 {
        var least = Int64.max
        for _ in 0..<tries {
            let begin = now()
            try body()
            least = min(least, now() - begin)
        }
        return least
    }

    private func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Timestamp(time).nanoseconds
    }

    @Test("a look-up costs the same among 3,000 versions as among 30", arguments: [nil, "nothing_at_all"])
    func lookups(_ other: String?) throws {
        let tree = try BrowsedContainer()
        var times: [Int64] = []
        for (name, count) in [("few", 30), ("many", 3_000)] {
            try document(name, count, in: tree)
            let listed = try tree.list(".versions/\(name)/history")
            #expect(listed.count == count)
            let parent = try tree.node(".versions/\(name)/history")
            let bytes = Array((other ?? listed[count / 2]).utf8)
            times.append(
                try shortest(of: 30) {
                    let found = try tree.browser.lookup(tree.caller, parent: parent, name: bytes)
                    #expect((found != nil) == (other == nil))
                })
            let top = try tree.node(".versions")
            times.append(
                try shortest(of: 30) {
                    let found = try tree.browser.lookup(tree.caller, parent: top, name: Array(name.utf8))
                    #expect(found != nil)
                })
        }
        #expect(times[2] < 5 * times[0], "\(times)")
        #expect(times[3] < 5 * times[1], "\(times)")
    }

    @Test("what lists a directory with all attributes costs as much per version among 3,000 as among 300")
    func listings() throws {
        let tree = try BrowsedContainer()
        var times: [Int64] = []
        for (name, count) in [("few", 300), ("many", 3_000)] {
            try document(name, count, in: tree)
            let names = [".versions", name, "history"].map { Array($0.utf8) }
            times.append(
                try shortest(of: 3) {
                    let listed = try tree.list(names, withAttributes: true)
                    for version in listed where try tree.find(names + [version]) == nil {
                        throw Errno.noSuchFileOrDirectory
                    }
                })
        }
        #expect(times[1] < 30 * times[0], "\(times)")
    }

    @Test("giving up 1,000 versions costs as much for each as giving up 100")
    func purging() throws {
        let tree = try BrowsedContainer()
        var times: [Int64] = []
        for (name, count) in [("few", 100), ("many", 1_000)] {
            // A document is purged once; the least of three says what else the machine does not.
            var least = Int64.max
            for number in 0..<3 {
                try document("\(name)\(number)", count, in: tree)
                let document = try tree.container.document(at: path("\(name)\(number)"), as: my)
                let took = try shortest(of: 1) {
                    let removed = try tree.container.purge(document, nil, as: my).versions.count
                    #expect(removed == count)
                }
                least = min(least, took)
            }
            times.append(least)
        }
        #expect(times[1] < 40 * times[0], "\(times)")
    }
}
