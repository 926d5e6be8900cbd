// `stale-writes = "refuse"` and editors that move the document away before they save it (DESIGN 6.3).

import Foundation
import Support
import Testing

@Suite struct RefusedMoveStories {
    static let ways: [String] = ConflictStories.waysOfVim + ["backup backupcopy=no", "backupcopy=no backupdir=."]

    /// A container that refuses stale writes, in which another program has saved `X` since `stale` has read it.
    private func play(
        reading: (TestContainer) throws -> Void, _ story: (TestContainer) throws -> [String]
    ) throws {
        let settings = ["stale-writes": "refuse"]
        try withContainer(named: "refused", files: ["X": "one\ntwo\n"], settings: settings) { container in
            try reading(container)
            let other = try ActorProcess("other", in: container.path)
            try other.load("X")
            try other.save("newer\ntwo\n", to: "X")
            guard container.isVersioned else { return [] }
            return try story(container) + untouched(container) + container.checkFindings()
        }
    }

    private func untouched(_ container: TestContainer) throws -> [String] {
        let text = container.text(of: "X")
        var problems = text == "newer\ntwo\n" ? [] : ["X holds \(text ?? "nothing")"]
        if try !container.conflicts().isEmpty { problems.append("there is a conflict") }
        let names = try container.names()
        if names != ["X"] { problems.append("names: \(names)") }
        let versions = try container.history(of: "X").versions.count
        if versions != 2 { problems.append("X has \(versions) versions") }
        if try !container.deleted().isEmpty { problems.append("something is deleted: \(try container.deleted())") }
        return problems
    }

    @Test("vim's :w and :w! fail with a message, and the file is unchanged", arguments: ways)
    func vim(_ way: String) throws {
        var vim: Vim?
        try play(reading: { vim = try Vim($0, way) }) { container in
            guard let editor = vim else { return ["no vim"] }
            vim = nil
            var problems: [String] = []
            for (round, write) in ["w", "w!", "w!", "w"].enumerated() {
                let screen = try editor.trySave("2s/.*/VIM \(round)/", with: write)
                let isTold = ["E212", "E510", "E506", "E514", "E166"].contains { screen.contains($0) }
                if !isTold { problems.append(":\(write) says nothing:\n\(screen)") }
                problems += try untouched(container)
            }
            return problems
        }
    }

    @Test("vim that has loaded the newer content may save", arguments: ways)
    func reloaded(_ way: String) throws {
        let settings = ["stale-writes": "refuse"]
        try withContainer(named: "refused", files: ["X": "one\ntwo\n"], settings: settings) { container in
            let vim = try Vim(container, way)
            let other = try ActorProcess("other", in: container.path)
            try other.load("X")
            try other.save("newer\ntwo\n", to: "X")
            guard container.isVersioned else { return [] }
            _ = try vim.trySave("2s/.*/VIM/")
            try vim.save("e!|2s/.*/VIM/")
            return container.text(of: "X") == "newer\nVIM\n" ? [] : ["X holds \(container.text(of: "X") ?? "nothing")"]
        }
    }

    /// How many events say that a save of `X` was refused.
    private func conflictEvents(_ container: TestContainer) throws -> Int {
        try shell("chmod 640 X", in: container.path)
        let line = """
            exec 3< <(exec "$CTL" watch . --json --after 0); watcher=$!
            sed '/"attributes"/q' <&3; kill $watcher
            """
        let output = try run(
            "bash", ["-c", line], in: container.path, environment: ["CTL": Workplace.control], seconds: 30)
        return output.text.split(separator: "\n").count { $0.contains("\"conflict\"") && $0.contains("\"X\"") }
    }

    /// Calls by which a stale editor takes the document's name away, as `ask` takes them.
    static let moves: [[String]] = [["rename", "X", "X~"], ["exchange", "X", "X~"], ["exchange", "X~", "X"]]

    @Test("A move to an ephemeral name is refused: one answer, one event, and the unlink after it", arguments: moves)
    func refusedMove(_ request: [String]) throws {
        var actor: ActorProcess?
        try play(reading: { container in
            let vim = try ActorProcess("vim", in: container.path)
            actor = vim
            // A read before this would count as made for a backup.
            if request[0] == "exchange" { try vim.save("mine\n", to: "X~") }
            try vim.load("X")
        }) { container in
            guard let vim = actor else { return ["no actor"] }
            actor = nil
            var problems: [String] = []
            for attempt in [request, request, ["unlink", "X"], ["open", "h", "X", "w+trunc"]] {
                try vim.begin(attempt[0], Array(attempt.dropFirst()))
                let answer = try vim.finish()
                if answer != .failed(ESTALE) { problems.append("\(attempt): \(answer)") }
            }
            let events = try conflictEvents(container)
            if events != 1 { problems.append("\(events) events") }
            if request[0] == "exchange" {
                if container.text(of: "X~") != "mine\n" { problems.append("its own file is gone") }
                try vim.must("unlink", "X~")
            }
            return problems
        }
    }

    @Test("Who has seen the newer content moves it, and so does who makes up no such name")
    func allowedMoves() throws {
        try withContainer(named: "refused", files: ["X": "one\n", "Y": "one\n"], settings: ["stale-writes": "refuse"]) {
            container in
            let vim = try ActorProcess("vim", in: container.path)
            let code = try ActorProcess("code", in: container.path)
            let other = try ActorProcess("other", in: container.path)
            for actor in [vim, code] { for file in ["X", "Y"] { try actor.load(file) } }
            for file in ["X", "Y"] { try other.save("newer\n", to: file) }
            guard container.isVersioned else { return [] }
            try vim.load("X")
            try vim.must("rename", "X", "X~")
            // `Y.old` is a name that any program may give a document.
            try code.must("rename", "Y", "Y.old")
            let names = try container.names()
            return names == ["X~", "Y.old"] ? [] : ["names: \(names)"]
        }
    }
}
