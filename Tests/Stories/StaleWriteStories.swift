// The three settings of `stale-writes` (DESIGN 6.3), over real processes.

import Foundation
import Support
import Testing

@Suite struct StaleWriteStories {
    static let document = (1...20).map { "line \($0)\n" }.joined()

    /// A container whose `X` has twenty lines, with this setting.
    private func play(_ setting: String, _ story: (TestContainer) throws -> [String]) throws {
        try withContainer(named: "stale", files: ["X": Self.document], settings: ["stale-writes": setting]) {
            container in
            try story(container) + (container.isVersioned ? container.checkFindings() : [])
        }
    }

    private func changed(_ text: String, _ line: Int, _ mark: String) -> String {
        text.replacing("line \(line)\n", with: "line \(line) \(mark)\n")
    }

    @Test("merge: two editors that keep saving from their own buffers lose nobody's line")
    func mergeKeepsEveryLine() throws {
        try play("merge") { container in
            let one = try ActorProcess("one", in: container.path)
            let two = try ActorProcess("two", in: container.path)
            var first = try one.load("X")
            var second = try two.load("X")
            // Neither ever reloads: each buffer has only its own changes.
            for round in 0..<5 {
                first = changed(first, 1 + round, "first")
                try one.save(first, to: "X")
                second = changed(second, 15 + round, "second")
                if round % 2 == 0 { try two.save(second, to: "X") } else { try two.saveByRename(second, to: "X") }
            }
            guard container.isVersioned else { return [] }
            let text = container.text(of: "X") ?? ""
            var problems: [String] = []
            for round in 0..<5 {
                for line in ["line \(1 + round) first\n", "line \(15 + round) second\n"] where !text.contains(line) {
                    problems.append("lost: \(line)")
                }
            }
            if try !container.conflicts().isEmpty { problems.append("there are conflicts") }
            return problems
        }
    }

    @Test("merge: a merge that did not come about costs the next one no line", arguments: [false, true])
    func mergeAfterOverlap(byRename: Bool) throws {
        try play("merge") { container in
            let one = try ActorProcess("one", in: container.path)
            let two = try ActorProcess("two", in: container.path)
            let start = try one.load("X")
            let first = changed(start, 1, "first")
            let second = changed(changed(try two.load("X"), 20, "second"), 10, "second")
            try one.save(changed(first, 10, "first"), to: "X")
            try two.save(second, to: "X")
            guard try !container.isVersioned || container.conflicts().count == 1 else {
                return ["the edits of line 10 were merged"]
            }
            // One takes back the edit that overlaps, and has never seen what two has saved.
            if byRename { try one.saveByRename(first, to: "X") } else { try one.save(first, to: "X") }
            guard container.isVersioned else { return [] }
            let expected = changed(second, 1, "first")
            let text = container.text(of: "X")
            return (text == expected ? [] : ["X holds \(text ?? "nothing")"])
                + (try container.conflicts().isEmpty ? [] : ["a conflict is left"])
        }
    }

    @Test("merge: where the version that both started from is purged, nothing is merged and both are kept")
    func mergeWithoutBase() throws {
        try play("merge") { container in
            let one = try ActorProcess("one", in: container.path)
            let two = try ActorProcess("two", in: container.path)
            let start = try one.load("X")
            let (first, second) = (changed(start, 1, "first"), changed(try two.load("X"), 20, "second"))
            try one.save(first, to: "X")
            guard container.isVersioned else { return [] }
            try container.must("purge", "X")
            try two.save(second, to: "X")
            let conflicts = try container.conflicts()
            let losers = try conflicts.first?.versions.map {
                String(decoding: try container.content(of: $0), as: UTF8.self)
            }
            var problems: [String] = []
            if container.text(of: "X") != second { problems.append("the newest is not in the file") }
            if losers != [first] { problems.append("losers: \(losers ?? [])") }
            if conflicts.first?.base != nil { problems.append("a base is named") }
            let merging = try container.ctl(["resolve", "X", "--merge"])
            if merging.status == 0 || !merging.errors.contains("is gone") {
                problems.append("resolve says \(merging.errors)")
            }
            return problems
        }
    }

    @Test("resolve --merge: several losers are each merged with what they parted from")
    func resolveByMerging() throws {
        try play("keep") { container in
            let names = ["one", "two", "three"]
            let actors = try names.map { try ActorProcess($0, in: container.path) }
            let start = try actors.map { try $0.load("X") }[0]
            guard container.isVersioned else { return [] }
            // Three go on by themselves, each with a line of its own at every save.
            var texts = Array(repeating: start, count: 3)
            for round in 0..<2 {
                for (index, actor) in actors.enumerated() {
                    texts[index] = changed(texts[index], 1 + 7 * index + 3 * round, names[index])
                    try actor.save(texts[index], to: "X")
                }
            }
            let losers = try container.conflicts().first?.versions.count
            let merging = try container.ctl(["resolve", "X", "--merge"])
            var problems = losers == 2 ? [] : ["\(losers ?? 0) losers"]
            if merging.status != 0 { problems.append("resolve says \(merging.errors)") }
            var expected = start
            for round in 0..<2 {
                for (index, name) in names.enumerated() {
                    expected = changed(expected, 1 + 7 * index + 3 * round, name)
                }
            }
            let text = container.text(of: "X")
            if text != expected { problems.append("X holds \(text ?? "nothing")") }
            if try !container.conflicts().isEmpty { problems.append("a conflict is left") }
            return problems
        }
    }

    @Test("merge: overlapping edits are a conflict as with keep")
    func mergeOverlap() throws {
        try play("merge") { container in
            let one = try ActorProcess("one", in: container.path)
            let two = try ActorProcess("two", in: container.path)
            let first = changed(try one.load("X"), 5, "first")
            let second = changed(try two.load("X"), 5, "second")
            try one.save(first, to: "X")
            try two.save(second, to: "X")
            guard container.isVersioned else { return [] }
            let conflicts = try container.conflicts()
            let loser = try conflicts.first?.versions.first.map {
                String(decoding: try container.content(of: $0), as: UTF8.self)
            }
            return (container.text(of: "X") == second ? [] : ["the newest is not in the file"])
                + (conflicts.count == 1 && loser == first
                    ? [] : ["conflicts: \(conflicts.count), loser: \(loser ?? "none")"])
        }
    }

    /// A call by which a stale writer would destroy what it has not seen, as `ask` takes it.
    static let refused: [[String]] = [
        ["open", "h", "X", "w"], ["open", "h", "X", "w+trunc"], ["open", "h", "X", "rw+trunc"],
        ["open", "h", "X", "w+creat+trunc"],
        ["truncate", "X", "0"], ["rename", "mine", "X"],
    ]

    @Test("refuse: a stale actor's destructive call fails with ESTALE and changes nothing", arguments: refused)
    func refusal(_ request: [String]) throws {
        try play("refuse") { container in
            let stale = try ActorProcess("stale", in: container.path)
            let other = try ActorProcess("other", in: container.path)
            try stale.load("X")
            try stale.save("mine", to: "mine")
            try other.load("X")
            try other.save("newer", to: "X")
            try stale.begin(request[0], Array(request.dropFirst()))
            let answer = try stale.finish()
            guard container.isVersioned else { return [] }
            var problems = answer == .failed(ESTALE) ? [] : ["\(request): \(answer)"]
            if container.text(of: "X") != "newer" { problems.append("X holds \(container.text(of: "X") ?? "nothing")") }
            if container.text(of: "mine") != "mine" { problems.append("its own file is gone") }
            // Having looked again, it may.
            try stale.load("X")
            try stale.begin(request[0], Array(request.dropFirst()))
            if case .failed(let code) = try stale.finish() {
                problems.append("refused after a fresh read: errno \(code)")
            }
            return problems
        }
    }

    /// A call that never fails for staleness.
    static let allowed: [[String]] = [
        ["open", "h", "X", "rw"], ["open", "h", "X", "w+append"], ["open", "h", "X", "r"], ["unlink", "X"],
    ]

    @Test("refuse: appending, opening read-write, and unlinking go on", arguments: allowed)
    func noRefusal(_ request: [String]) throws {
        try play("refuse") { container in
            let stale = try ActorProcess("stale", in: container.path)
            let other = try ActorProcess("other", in: container.path)
            try stale.load("X")
            try other.save("newer", to: "X")
            try stale.begin(request[0], Array(request.dropFirst()))
            let answer = try stale.finish()
            return answer == .done([]) ? [] : ["\(request): \(answer)"]
        }
    }

    @Test("refuse: writes and ftruncate on a handle opened in time go through")
    func openHandle() throws {
        try play("refuse") { container in
            let stale = try ActorProcess("stale", in: container.path)
            let other = try ActorProcess("other", in: container.path)
            try stale.load("X")
            try stale.must("open", "h", "X", "rw")
            try other.load("X")
            try other.must("open", "g", "X", "rw")
            try other.must("write", "g", "newer")
            try other.must("close", "g")
            try stale.must("ftruncate", "h", "0")
            try stale.must("write", "h", "mine")
            try stale.must("close", "h")
            return container.text(of: "X") == "mine" ? [] : ["X holds \(container.text(of: "X") ?? "nothing")"]
        }
    }

    @Test("refuse: vim leaves the file whole and named, in each of its ways", arguments: ConflictStories.waysOfVim)
    func vimIsRefused(_ settings: String) throws {
        try play("refuse") { container in
            try shell("printf 'one\\ntwo\\n' > X", in: container.path)
            let vim = try Vim(container, settings)
            let other = try ActorProcess("other", in: container.path)
            try other.load("X")
            try other.save("newer\ntwo\n", to: "X")
            let screen = try vim.trySave("2s/.*/VIM/")
            guard container.isVersioned else { return [] }
            let text = container.text(of: "X")
            var problems: [String] = []
            if text != "newer\ntwo\n" { problems.append("X holds \(text ?? "nothing"); vim showed:\n\(screen)") }
            if try !container.conflicts().isEmpty { problems.append("refused, and yet a conflict") }
            let names = try container.names()
            if names != ["X"] { problems.append("names: \(names)") }
            return problems
        }
    }
}
