// `log`, `blame` and `watch` as people use them: what is told, and what the change feed has forgotten.

import Foundation
import Support
import Testing

@Suite struct LogCommandTests {
    @Test("What the change feed has forgotten is told by versions and deletions")
    func forgotten() throws {
        try withContainer(named: "log") { container in
            guard container.isVersioned else { return [] }
            let names = try work(in: container)
            let before = try container.must("log", "d/a", "--json").text
            try container.unmount()
            // The engine has no feed beside what it tells of.
            if !Workplace.servesByEngine {
                try mustRun("sqlite3", [container.path + "/.versionsfs/catalog.sqlite", "DELETE FROM change"])
            }
            try container.mount()
            let after = try container.must("log", "--all").text
            let lines = after.split(separator: "\n").map(String.init)
            var problems: [String] = []
            let lost = Workplace.servesByEngine ? 0 : 1
            for (event, path, count) in [
                ("saved", "d/a", 1 + lost), ("saved", "d/gone", lost), ("deleted", "d/gone", 1),
            ] {
                let found = lines.count { $0.contains(" \(event) ") && $0.hasSuffix(" \(path)") }
                if found != count { problems.append("\(event) \(path): \(found) times") }
            }
            for name in names where !after.contains(name) { problems.append("\(name) is not named") }
            if !before.contains("created") { problems.append("before: \(before)") }
            return problems.isEmpty ? [] : problems + [after]
        }
    }

    /// Two programs save and delete, and end.
    private func work(in container: TestContainer) throws -> [String] {
        let one = try ActorProcess("code", in: container.path)
        let other = try ActorProcess("claude", in: container.path)
        try one.must("mkdir", "d")
        try one.save("1\n", to: "d/a")
        try other.load("d/a")
        try other.saveByRename("1\n2\n", to: "d/a")
        try one.save("gone\n", to: "d/gone")
        try other.must("unlink", "d/gone")
        return [one, other].map { "\($0.program) (\($0.pid))" }
    }

    @Test("A file's log goes back behind its rename; --by, --since and --until choose; -p and --stat show the change")
    func choices() throws {
        try withContainer(named: "log") { container in
            guard container.isVersioned else { return [] }
            let one = try ActorProcess("code", in: container.path)
            let other = try ActorProcess("claude", in: container.path)
            try one.save("first\n", to: "a")
            try one.must("rename", "a", "b")
            try other.load("b")
            try other.save("first\nsecond\n", to: "b")
            var problems: [String] = []
            func expect(_ arguments: [String], has: [String], not: [String] = []) throws {
                let output = try container.ctl(["log"] + arguments)
                for text in has where !output.text.contains(text) { problems.append("\(arguments) has no \(text)") }
                for text in not where output.text.contains(text) { problems.append("\(arguments) has \(text)") }
                if output.status != 0 || !output.errors.isEmpty { problems.append("\(arguments): \(output.errors)") }
                if !problems.isEmpty { problems.append(output.text) }
            }
            try expect(["b"], has: ["a -> b", "created", "code (\(one.pid))", "claude (\(other.pid))"])
            try expect(["a"], has: ["a -> b"])
            try expect(["b", "--by", "claude"], has: ["saved"], not: ["code", "renamed"])
            try expect(["--by", "\(one.pid)"], has: ["created", "renamed"], not: ["claude"])
            try expect(["--since", "1h"], has: ["created", "saved"])
            try expect(["--until", "1h"], has: ["No history."], not: ["saved"])
            try expect(["b", "-p"], has: ["\n+second\n", "--- /dev/null\n", "\n+first"])
            try expect(["b", "--stat"], has: ["+1  -0"])
            let blame = try container.must("blame", "b").text.split(separator: "\n")
            if blame.count != 2 || !blame[0].contains("code") || !blame[1].contains("claude") {
                problems.append("blame: \(blame)")
            }
            let none = try container.ctl(["log", "nowhere"])
            if none.status != 1 || none.errors.isEmpty { problems.append("nowhere: \(none.status) \(none.text)") }
            return problems
        }
    }

    @Test("The daemon takes no other place in a log than it gave")
    func places() throws {
        try withContainer(named: "log", files: ["a": "1"]) { container in
            guard container.isVersioned else { return [] }
            let socket = try ControlSocket(of: container)
            let places = ["", "x", "f1", "f1.x", "d-1", "dx", "vxyz", "p1.2.3", "v\u{0}", "f18446744073709551615.0"]
            return try places.compactMap { place in
                let call = try socket.begin("log", ["target": ["path": ""], "after": place])
                let isTaken = try socket.answer(to: call)["error"] == nil
                // A number behind the feed's end is a place with nothing behind it.
                return isTaken == place.hasPrefix("f1844") ? nil : "\(place) is \(isTaken ? "taken" : "refused")"
            }
        }
    }
}
