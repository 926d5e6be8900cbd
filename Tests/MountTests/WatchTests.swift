// Who is told of which changes by `watch`, and who is said to have made them.

import Foundation
import Support
import Testing

@Suite("What watch tells, and whom") struct WatchTests {
    private struct Event: Decodable {
        var event: String
        var path: String
        var from: String?
        var pid: Int32?
        var program: String?

        var text: String { "\(event) \(from.map { "\($0) -> " } ?? "")\(path)" }
    }

    /// What is told of a path or an id, from the beginning, until something happens to `end`.
    private func told(
        _ container: TestContainer, of target: String, until end: String, asUser user: UInt32? = nil
    ) throws -> [Event] {
        let line =
            """
            exec 3< <(exec \"$CTL\" watch \"$TARGET\" --json --after 0); watcher=$!; \
            sed \"\\|\\\"path\\\":\\\"$END\\\"|q\" <&3; kill $watcher
            """
        let output = try run(
            "bash", ["-c", line], in: container.path,
            environment: ["CTL": Workplace.control, "TARGET": target, "END": end], asUser: user, seconds: 30)
        return try output.text.split(separator: "\n").map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
    }

    @Test("Each change is told with the process and the program that made it, however it was made")
    func origins() throws {
        try withContainer(named: "watch", files: ["a": "1"]) { container in
            guard container.isVersioned else { return [] }
            let (one, other) = (
                try ActorProcess("code", in: container.path), try ActorProcess("claude", in: container.path)
            )
            try one.save("22", to: "a")
            try other.saveByRename("333", to: "a")
            try one.must("rename", "a", "b")
            try other.must("chmod", "b", "600")
            try one.must("mkdir", "d")
            try other.must("unlink", "b")
            try one.must("rmdir", "d")
            try other.save("end", to: "end")
            let events = try told(container, of: ".", until: "end")
            let expected = [
                "saved a": one, "renamed a -> b": one, "attributes b": other, "created d": one, "deleted b": other,
                "deleted d": one,
            ]
            var problems: [String] = []
            for (text, actor) in expected {
                let found = events.filter { $0.text == text && $0.pid == actor.pid && $0.program == actor.program }
                if found.count != 1 {
                    problems.append("\(text) by \(actor.program) (\(actor.pid)): \(found.count) times")
                }
            }
            let saves = events.filter { $0.text == "saved a" }.map { "\($0.program ?? "-") \($0.pid ?? 0)" }
            if saves != ["code \(one.pid)", "claude \(other.pid)"] { problems.append("saved by \(saves)") }
            return problems.isEmpty
                ? [] : problems + events.map { "told: \($0.text) by \($0.program ?? "-") (\($0.pid ?? 0))" }
        }
    }

    @Test(
        "A refusal is one answer and one event, though the kernel asks twice",
        arguments: [
            ["open", "h", "X", "w+trunc"], ["open", "h", "X", "w"], ["truncate", "X", "0"], ["rename", "new", "X"],
        ])
    func refusals(_ request: [String]) throws {
        try withContainer(
            named: "watch", files: ["X": "1", "new": "1"], settings: ["stale-writes": "refuse"]
        ) { container in
            guard container.isVersioned else { return [] }
            let (one, other) = (
                try ActorProcess("one", in: container.path), try ActorProcess("other", in: container.path)
            )
            try one.load("X")
            try other.load("X")
            try other.save("22", to: "X")
            try one.begin(request[0], Array(request.dropFirst()))
            let answer = try one.finish()
            try other.save("end", to: "end")
            let events = try told(container, of: ".", until: "end").filter { $0.path == "X" && $0.event != "saved" }
            var problems = answer == .failed(ESTALE) ? [] : ["it was answered \(answer)"]
            if events.map(\.text) != ["conflict X"] || events.first?.pid != one.pid {
                problems.append("told: \(events.map { "\($0.text) by \($0.program ?? "-")" })")
            }
            if container.text(of: "X") != "22" { problems.append("X has \(container.text(of: "X") ?? "gone")") }
            return problems
        }
    }

    @Test("A directory's subscriber hears of what is in it, comes and goes; an item's follows it to other names")
    func scopes() throws {
        try withContainer(named: "watch", files: ["d/a": "1", "d/e/b": "1", "x": "1", "db": "1"]) { container in
            guard container.isVersioned else { return [] }
            try shell("echo 2 > d/a; echo 2 > d/e/b; echo 2 > x; echo 2 > db", in: container.path)
            let item = try container.history(of: "d/a").current?.item ?? ""
            try shell("mv d/a a; echo 3 > a; mv x d/x; echo 3 > db; echo end > d/end; mv a end", in: container.path)
            let inside = try told(container, of: "d", until: "d/end").map(\.text)
            let expected = ["saved d/a", "saved d/e/b", "renamed d/a -> a", "renamed x -> d/x", "created d/end"]
            var problems: [String] = []
            for text in expected where !inside.contains(text) { problems.append("of d nobody tells: \(text)") }
            for text in inside where !text.contains("d/") { problems.append("of d it is told: \(text)") }
            let ofItem = try told(container, of: item, until: "end").map(\.text)
            if ofItem.suffix(4) != ["saved d/a", "renamed d/a -> a", "saved a", "renamed a -> end"] {
                problems.append("of the item it is told: \(ofItem)")
            }
            return problems
        }
    }

    @Test(
        "Another user is told only of names that they may list, of what they did themselves and of nothing else",
        .enabled(if: getuid() == 0, "only root may become another user"))
    func otherUsers() throws {
        let (alice, bob): (UInt32, UInt32) = (5, 65534)
        try withContainer(named: "watch") { container in
            guard container.isVersioned else { return [] }
            chmod(container.path, 0o1777)
            try mustRun(
                "bash",
                [
                    "-ec",
                    """
                    echo 1 > public; echo 2 > public; mkdir -m 700 closed; echo 1 > closed/hidden; mv public closed/gone
                    mkdir open; echo 1 > open/shown; mv open/shown closed/taken; mkdir -m 711 through; \
                    echo 1 > through/unlisted
                    """,
                ], in: container.path, asUser: alice)
            try mustRun("bash", ["-ec", "echo own > own; echo end > end"], in: container.path, asUser: bob)
            let all = try told(container, of: ".", until: "end").map(\.text)
            let hers = try told(container, of: ".", until: "end", asUser: alice).map(\.text)
            let his = try told(container, of: ".", until: "end", asUser: bob).map(\.text)
            var problems: [String] = []
            for secret in ["closed/", "through/"] {
                for text in his where text.contains(secret) { problems.append("bob is told: \(text)") }
                if !hers.contains(where: { $0.contains(secret) }) { problems.append("alice is not told of \(secret)") }
            }
            for text in ["created own", "created open/shown"] where !his.contains(text) {
                problems.append("bob is not told: \(text)")
            }
            // The log tells both the same, and no more: not by versions and deleted entries either.
            let log = try container.must("log", "--all", asUser: bob).text
            for secret in ["closed/", "through/"] where log.contains(secret) { problems.append("bob's log: \(log)") }
            if !log.contains("open/shown") { problems.append("open/shown is not in bob's log: \(log)") }
            let own = try container.must("log", "--all", asUser: alice).text
            for secret in ["closed/hidden", "through/unlisted"] where !own.contains(secret) {
                problems.append("\(secret) is not in alice's log: \(own)")
            }
            if hers.count != all.count {
                problems.append("alice is told of \(hers.count) changes, root of \(all.count)")
            }
            return problems
        }
    }
}
