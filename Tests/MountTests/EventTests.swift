// What `versionsctl watch` tells, and what it does not: names that programs make up for themselves.

import Foundation
import Support
import Testing

@Suite struct EventTests {
    private struct Event: Decodable {
        var event: String
        var path: String
        var from: String?
        var version: String?
        var program: String?

        var text: String { "\(event) \(from.map { "\($0) -> " } ?? "")\(path)" }
    }

    /// All events since the container was made.
    /// - Parameter directory: whose events, with the options of `watch`.
    private func events(
        of container: TestContainer, in directory: String = "", _ options: String = ""
    ) throws -> [Event] {
        let path = container.path + "/" + directory
        try shell("echo > the-end", in: path)
        let output = try run(
            "bash",
            [
                "-c",
                """
                exec 3< <(exec "$CTL" watch . --json --after 0 \(options)); watcher=$!
                sed '/saved.*the-end/q; /the-end.*saved/q' <&3; kill $watcher
                """,
            ],
            in: path, environment: ["CTL": Workplace.control], seconds: 30)
        return try output.text.split(separator: "\n").map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
            .filter { !$0.path.hasSuffix("the-end") }
    }

    @Test("watch --shallow tells of a directory and its own entries, and of what comes to it or leaves it")
    func shallow() throws {
        try withContainer(named: "events", files: ["d/f": "one", "d/e/g": "two", "h": "three"]) { container in
            guard container.isVersioned else { return [] }
            try shell(
                """
                cat d/f d/e/g h; echo 2 > d/f; echo 2 > d/e/g; echo 2 > h; chmod 700 d; chmod 700 d/e
                mv h d/i; mv d/f d/e/f; mv d/e/g d/e/k
                """,
                in: container.path)
            let deep = try events(of: container, in: "d").map(\.text)
            let told = try events(of: container, in: "d", "--shallow").map(\.text)
            let expected = [
                "saved d/f", "attributes d", "attributes d/e", "renamed h -> d/i", "renamed d/f -> d/e/f",
            ]
            var problems = told == expected ? [] : ["shallow: \(told)"]
            if !deep.contains("saved d/e/g") || !deep.contains("renamed d/e/g -> d/e/k") || deep.contains("saved h") {
                problems.append("deep: \(deep)")
            }
            return problems
        }
    }

    @Test("A subscription to an item alone hears nothing of what is in it, and follows no more than its path or its id")
    func item() throws {
        try withContainer(named: "events", files: ["d/f": "one"]) { container in
            guard container.isVersioned else { return [] }
            try shell("cat d/f; chmod 700 d; echo 2 > d/f; mv d/f d/g; mv d e", in: container.path)
            let id = try container.history(of: "e/g").versions.first?.item ?? ""
            let socket = try ControlSocket(of: container)
            func told(_ target: [String: Any], _ depth: String) throws -> [String] {
                let call = try socket.begin("watch", ["target": target, "after": 0, "depth": depth])
                _ = try socket.answer(to: call)
                // All of it was recorded before, and comes in one piece.
                let parameters = try socket.next()["params"] as? [String: Any]
                let events = parameters?["events"] as? [[String: Any]] ?? []
                return events.map { "\($0["event"] ?? "-") \($0["path"] ?? "-")" }
            }
            let directory = try told(["path": "d"], "item")
            let file = try told(["path": "d/f"], "item")
            let document = try told(["id": id], "item")
            var problems: [String] = []
            if directory != ["attributes d", "renamed e"] { problems.append("directory: \(directory)") }
            if file != ["saved d/f", "renamed d/g"] { problems.append("file: \(file)") }
            if document != ["saved d/f", "renamed d/g"] { problems.append("document: \(document)") }
            return problems
        }
    }

    @Test("Changed modes, owners, times and attributes are told, once the file is known")
    func attributes() throws {
        try withContainer(named: "events", files: ["f": "one", "d/g": "two"]) { container in
            guard container.isVersioned else { return [] }
            try shell(
                """
                chmod 600 f; chmod 600 f; touch -d 2020-01-01 f; setfattr -n user.x -v 1 f; setfattr -x user.x f; \
                chmod 700 d; cat f; touch -a f
                """, in: container.path)
            let told = try events(of: container).map(\.text)
            let expected = Array(repeating: "attributes f", count: 4) + ["attributes d"]
            return told == expected ? [] : ["\(told)"]
        }
    }

    @Test("A version that is purged, or whose content is given up, is told as lost")
    func lost() throws {
        try withContainer(named: "events", settings: ["history.max-file": "1KiB"]) { container in
            guard container.isVersioned else { return [] }
            try shell("echo 1 > f; echo 2 > f; echo 3 > f", in: container.path)
            let history = try container.history(of: "f").versions.filter { $0.kind == "history" }
            try container.must("purge", "f", "--version", history[0].id)
            try shell("head -c 5000 /dev/zero > big; head -c 6000 /dev/zero > big", in: container.path)
            let first = try container.history(of: "big").versions.last
            try shell("echo gone > g; rm g", in: container.path)
            let gone = try container.deleted().first { $0.path == "g" }
            try container.must("purge", "--deleted")
            let lost = try events(of: container).filter { $0.event == "version-lost" }
            let reflinks = try container.must("status").text.contains("no reflink") == false
            let expected = ["f \(history[0].id)"] + (reflinks ? [] : ["big \(first?.id ?? "-")"])
            var problems = gone == nil ? ["g was not deleted"] : []
            let told = lost.map { "\($0.path) \($0.version ?? "-")" }
            if Array(told.prefix(expected.count)) != expected { problems.append("told: \(told), not \(expected)") }
            if told.dropFirst(expected.count).map({ $0.prefix(2) }) != ["g "] { problems.append("of g: \(told)") }
            return problems
        }
    }

    @Test("What programs make up for themselves is never named: git's and rsync's and the editors' temporary files")
    func temporary() throws {
        try withContainer(named: "events") { container in
            guard container.isVersioned else { return [] }
            try shell(
                gitIdentity
                    + "; git init -q r; cd r; echo a > a; git add a; git commit -qm one;"
                    + " echo b > b; git add b; git commit -qm two; cd ..;"
                    + " d=$(mktemp -d); cp /bin/ln $d/emacs; $d/emacs -s me@host.1:2 .#c; cp -f /bin/rm $d/emacs;"
                    + " $d/emacs .#c; rm -r $d; echo x > /dev/shm/events-$$; rsync /dev/shm/events-$$ copied;"
                    + " rm /dev/shm/events-$$; echo c > c; sed -i s/c/d/ c;"
                    + " python3 -c 'import os; n = \"new.tmp.%d\" % os.getpid();"
                    + " open(n, \"w\").write(\"1\"); os.rename(n, \"new\")'",
                in: container.path)
            let told = try events(of: container)
            var problems: [String] = []
            for event in told {
                for name in [event.path, event.from].compactMap({ $0 }) where
                    ["tmp_obj", ".lock", "/sed", ".copied.", "new.tmp", ".#c"].contains(where: {
                        "/\(name)".contains($0)
                    })
                {
                    problems.append(event.text)
                }
            }
            for expected in ["created copied", "created new", "created c", "saved c", "created r/a"]
            where !told.contains(where: { $0.text == expected }) {
                problems.append("no \(expected)")
            }
            return problems.isEmpty ? [] : problems + told.map { "all: " + $0.text }
        }
    }

    @Test("A file that was told of and is renamed over another one is told to be gone")
    func renamedOver() throws {
        try withContainer(named: "events", files: ["doc": "old"]) { container in
            guard container.isVersioned else { return [] }
            try shell("echo new > draft; mv draft doc", in: container.path)
            let told = try events(of: container).map(\.text)
            let isTold = told.first == "created draft" && told.suffix(2) == ["saved doc", "renamed draft -> doc"]
            return isTold ? [] : ["\(told)"]
        }
    }
}
