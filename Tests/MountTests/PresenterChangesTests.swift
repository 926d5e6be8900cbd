// What presenters hear of: every change that anyone else makes, once, in order, and before they have their item back.

import Foundation
import Support
import Testing

@Suite("What presenters hear") struct PresenterChangesTests {
    @Test("a save, a rename of a directory above, a deletion: each once, in order, whoever makes it")
    func plainPrograms() throws {
        try withContainer(files: ["d/e/a": "1", "d/b": "1"]) { container in
            let client = try PresentingClient(of: container)
            defer { client.close() }
            try client.present("d/e/a")
            try shell(
                "echo 2 > d/e/a; echo 2 > d/b; mv d f; mv f/e/a f/e/c; echo 3 > f/e/c; rm f/e/c", in: container.path)
            let told = try client.wait(for: "d/e/a: deleted f/e/c item at f/e/c")
            // Its own children's opens do not ask it for anything.
            let expected = [
                "d/e/a: saved d/e/a item at d/e/a", "d/e/a: renamed d -> f item at f/e/a",
                "d/e/a: renamed f/e/a -> f/e/c item at f/e/c", "d/e/a: saved f/e/c item at f/e/c",
                "d/e/a: deleted f/e/c item at f/e/c",
            ]
            return told == expected ? [] : ["it was told: \(told)"]
        }
    }

    @Test("with each change it hears which process of which program made it")
    func origins() throws {
        try withContainer(files: ["d/a": "1"]) { container in
            let client = try PresentingClient(of: container)
            defer { client.close() }
            try client.present("d/a")
            let (one, other) = (
                try ActorProcess("code", in: container.path), try ActorProcess("claude", in: container.path)
            )
            try one.save("22", to: "d/a")
            try other.must("rename", "d/a", "d/b")
            try one.saveByRename("333", to: "d/b")
            try other.must("unlink", "d/b")
            try client.wait(for: "d/a: deleted d/b item at d/b")
            let expected = [one, other, one, other].map { "\($0.program) \($0.pid)" }
            return client.origins == expected ? [] : ["made by \(client.origins), not \(expected): \(client.told)"]
        }
    }

    @Test("a directory's presenter hears of all that is in it, at any depth, and of what leaves it")
    func directories() throws {
        try withContainer(files: ["d/e/a": "1", "x": "1"]) { container in
            let client = try PresentingClient(of: container)
            defer { client.close() }
            try client.present("d")
            try shell(
                "echo 2 > d/e/a; mv x d/y; mv d/y z; echo 3 > z; mkdir d/n; rmdir d/n; chmod 600 d/e/a",
                in: container.path)
            let told = try client.wait(for: "d: attributes d/e/a inDirectory at d")
            let expected = [
                "d: saved d/e/a inDirectory at d", "d: renamed x -> d/y inDirectory at d",
                "d: renamed d/y -> z inDirectory at d", "d: created d/n inDirectory at d",
                "d: deleted d/n inDirectory at d", "d: attributes d/e/a inDirectory at d",
            ]
            return told == expected ? [] : ["it was told: \(told)"]
        }
    }

    @Test(
        "what is done in its own claims a presenter does not hear, nor what it saves when it is asked to; another does")
    func own() throws {
        let file = Saved()
        try withContainer(files: ["a": "1"]) { container in
            let client = try PresentingClient(of: container) { question in
                guard question == "save" else { return }
                file.save(container.file("a"), "asked to save")
            }
            defer { client.close() }
            let other = try PresentingClient(of: container)
            defer { other.close() }
            let (presenter, _, _) = try client.present("a")
            // It presents the directory, and so is asked nothing: nobody could tell which of two presenters of one
            // process has saved.
            try other.present("")
            let heard = ": saved a inDirectory at "
            try client.claim("writing", ["a"], for: presenter) {
                file.save(container.file("a"), "in a claim of its own")
            }
            try other.wait(for: heard)
            // Another client reads: the presenter is asked to save, and does.
            try container.must("coordinate", "read", "a", "--", "cat", "a")
            try client.wait(for: "a: reacquire")
            try other.wait(for: heard, times: 2)
            try shell("echo by another > a", in: container.path)
            try other.wait(for: heard, times: 3)
            try client.wait(for: "a: saved a item at a")
            var problems: [String] = []
            let own = client.told.filter { $0.contains("saved") }
            if own.count != 1 { problems.append("it heard of its own: \(client.told)") }
            return problems + file.problems
        }
    }

    @Test("what was changed in a claim is told before the item is given back")
    func order() throws {
        try withContainer(files: ["a": "1"]) { container in
            let client = try PresentingClient(of: container)
            defer { client.close() }
            try client.present("a")
            for round in 0..<20 {
                try container.must("coordinate", "write", "a", "--", "sh", "-c", "echo \(round) > a")
            }
            // What comes behind the claim may be told before the item is given back, too.
            try client.wait(for: "a: reacquire", times: 20)
            try shell("rm a", in: container.path)
            let told = try client.wait(for: "a: deleted a item at a")
            let round = ["a: relinquish to writer", "a: saved a item at a", "a: reacquire"]
            let expected = Array(repeating: round, count: 20).flatMap { $0 } + ["a: deleted a item at a"]
            return told == expected ? [] : ["it was told: \(told)"]
        }
    }

    @Test("who comes back and names the last change it has seen misses nothing, and finds its item that has moved")
    func resuming() throws {
        try withContainer(files: ["a": "1", "other": "1"]) { container in
            let first = try PresentingClient(of: container)
            let (_, purpose, sequence) = try first.present("a")
            first.close()
            try shell("echo 2 > a; mkdir d; mv a d/b; echo 3 > d/b; echo 2 > other", in: container.path)
            let second = try PresentingClient(of: container)
            defer { second.close() }
            try second.present("a", after: sequence, purpose: purpose)
            let told = try second.wait(for: "a: saved d/b item at d/b")
            var problems: [String] = []
            if told != ["a: saved a item at a", "a: renamed a -> d/b item at d/b", "a: saved d/b item at d/b"] {
                problems.append("it was told: \(told)")
            }
            // It is asked where its item is now.
            try container.must("coordinate", "write", "d/b", "--", "true")
            try second.wait(for: "a: relinquish to writer")
            return problems
        }
    }

    @Test("a conflict and its resolution are told to all, also to whoever made them") func versions() throws {
        try withContainer(files: ["a": "1"]) { container in
            let client = try PresentingClient(of: container)
            defer { client.close() }
            try client.present("a")
            try shell("echo 2 > a", in: container.path)
            try container.must("simulate", "conflict", "a")
            try client.wait(for: "a: conflict a item at a")
            try container.must("resolve", "a", "--keep", "current")
            try client.wait(for: "a: resolved a item at a")
            return []
        }
    }

    @Test("who had the file open for writing before anyone took part is waited for until it has closed it")
    func earlierWriters() throws {
        try withContainer(files: ["a": "1"]) { container in
            let tool = Workplace.control
            // Who does not change the file for a while would not be waited for: so it goes on until somebody waits.
            let result = try shell(
                """
                (while [ ! -e ../enough ]; do echo more; done; echo last) > a &
                while [ ! -s a ]; do :; done
                # A writer that gets no processor for 200 ms is not waited for: then the next reader tries.
                reader=
                until \(tool) claims | grep -q waiting; do
                    kill -0 $reader 2> /dev/null && continue
                    \(tool) coordinate read a -- tail -n 1 a > ../seen &
                    reader=$!
                done
                touch ../enough
                wait
                cat ../seen
                """, in: container.path)
            return result.text == "last" ? [] : ["the reader saw: \(result.text)"]
        }
    }
}

@Suite("Renames and deletions that wait for nobody") struct NoticeTests {
    @Test("presenters hear of them as they happen and have their item back; a stopped one holds up nothing")
    func presenters() throws {
        try withContainer(files: ["a": "1", "d/b": "1", "c": "1"]) { container in
            let stranger = try ActorProcess("stranger", in: container.path)
            let client = try PresentingClient(of: container)
            defer { client.close() }
            let silent = try PresentingClient(of: container, answers: false)
            defer { silent.close() }
            for file in ["a", "d/b", "c"] {
                try client.present(file)
                try silent.present(file)
            }
            var problems: [String] = []
            let clock = ContinuousClock()
            let took = try clock.measure {
                _ = try stranger.must("rename", "d", "e")
                _ = try stranger.must("unlink", "a")
                _ = try stranger.must("truncate", "c", "0")
            }
            if took > .seconds(5) { problems.append("they took \(took)") }
            // Each presenter has its own place in the feed.
            for file in ["d/b", "a", "c"] { try client.wait(for: "\(file): reacquire") }
            let told = client.told
            let expected = [
                "d/b: relinquish to writer", "a: relinquish to writer", "a: accommodate", "c: relinquish to writer",
                "d/b: renamed d -> e item at e/b", "d/b: reacquire", "a: deleted a item at a", "a: reacquire",
                "c: saved c item at c",
            ]
            for line in expected where !told.contains(line) { problems.append("nobody was told: \(line)") }
            for file in ["d/b", "a"] {
                let own = told.filter { $0.hasPrefix("\(file):") }
                if own != expected.filter({ $0.hasPrefix("\(file):") }) { problems.append("out of order: \(own)") }
            }
            return problems
        }
    }

    @Test("who holds a claim hears what a plain program does to what it holds, and not what is done in the claim")
    func holders() throws {
        try withContainer(files: ["a": "1"]) { container in
            let stranger = try ActorProcess("stranger", in: container.path)
            let client = try PresentingClient(of: container)
            defer { client.close() }
            try client.claim("writing", ["a"]) {
                try shell("mv a b; mv b a; truncate -s 1 a", in: container.path)
                _ = try stranger.must("rename", "a", "c")
                try client.wait(for: ": claimDisturbed a moved")
                _ = try stranger.must("unlink", "c")
                try client.wait(for: ": claimDisturbed c deleted")
            }
            let told = client.told
            return told == [": claimDisturbed a moved", ": claimDisturbed c deleted"] ? [] : ["it was told: \(told)"]
        }
    }
}

/// Saves files on another thread than the test's, and remembers what went wrong.
private final class Saved: @unchecked Sendable {
    // Sendable because the list is guarded by `lock`.
    private let lock = NSLock()
    private var list: [String] = []
    var problems: [String] { lock.withLock { list } }

    func save(_ path: String, _ text: String) {
        do {
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: Data(text.utf8))
            try handle.close()
        } catch {
            lock.withLock { list.append("\(path): \(error)") }
        }
    }
}
