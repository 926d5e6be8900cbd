// Ids of things that a user may not see do not answer: full ones as little as their first digits.

import CTestSupport
import Foundation
import Support
import Testing

private let alice: UInt32 = 5
private let bob: UInt32 = 65534

@Suite struct PrivateIdTests {
    /// Asks for each id with each method, and prints kind and message of the error, or `answered`.
    private static let asking = """
        import json, socket, sys
        s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(sys.argv[1]); f = s.makefile("rw")
        for id in sys.argv[2:]:
            for method in ("show", "history", "conflicts", "space", "deleted"):
                json.dump({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"target": {"id": id}}}, f)
                f.write("\\n"); f.flush()
                error = json.loads(f.readline()).get("error")
                print(method, id, "answered" if error is None else error["message"])
        """

    private func ask(_ ids: [String], _ container: TestContainer, as user: UInt32) throws -> [String] {
        let socket = try mustRun("readlink", [container.file(".versions/.socket")], asUser: user).text
        return try mustRun("/usr/bin/python3", ["-B", "-c", Self.asking, socket] + ids, asUser: user).text
            .split(separator: "\n").map(String.init)
    }

    private func ids(_ container: TestContainer) throws -> [String] {
        struct History: Decodable {
            struct Version: Decodable { var id: String; var item: String }
            var versions: [Version]
        }
        struct Entry: Decodable { var id: String; var path: String }
        var found: [String] = []
        for file in ["private", "closed/inner"] {
            let output = try container.must("history", file, "--json", asUser: alice)
            let versions = try JSONDecoder().decode(History.self, from: Data(output.stdout)).versions
            found += versions.map(\.id) + versions.prefix(1).map(\.item)
        }
        let deleted = try container.must("deleted", "--json", asUser: alice)
        let entries = try JSONDecoder().decode([Entry].self, from: Data(deleted.stdout))
        return found + entries.filter { $0.path.hasPrefix("closed") || $0.path.hasPrefix("lost/") }.map(\.id)
    }

    @Test("What bob may not see is to him as if there were no such id; alice is answered")
    func unseen() throws {
        try withContainer(named: "ids") { container in
            chmod(container.path, 0o1777)
            let script = """
                umask 022; echo 1 > private; chmod 600 private; echo 2 > private; echo 3 > private
                mkdir -m 700 closed lost; echo 1 > closed/inner; echo 2 > closed/inner; echo x > closed/gone
                rm closed/gone; echo x > lost/child; rm -r lost; echo 1 > public; echo 2 > public
                """
            try mustRun("sh", ["-ec", script], in: container.path, asUser: alice)
            let full = try ids(container)
            var problems = full.count < 8 ? ["only \(full)"] : []
            let all = full + full.map { String($0.prefix(8)) } + full.map { String($0.prefix(4)) }
            for line in try ask(all, container, as: bob) {
                let words = line.split(separator: " ", maxSplits: 2).map(String.init)
                if words.last != "no version, item or deletion \(words[1])" { problems.append("bob: \(line)") }
            }
            let hers = try ask(full, container, as: alice)
            for id in full where !hers.contains(where: { $0.contains(" \(id) answered") }) {
                problems.append("alice: nothing answers to \(id): \(hers.filter { $0.contains(id) })")
            }
            return problems
        }
    }

    @Test("An id of fewer than four hex digits, or of anything else, is one clear error")
    func short() throws {
        try withContainer(named: "ids", files: ["f": "1"]) { container in
            try shell("echo 2 > f", in: container.path)
            let ids = ["a", "abc", "", "wxyz", "0123456789abcdef0123456789abcdef0"]
            let lines = try ask(ids, container, as: bob)
            var problems = lines.filter { !$0.contains("an id is 4 to 32 hex digits") }
            let shown = try container.ctl(["show", "f", "--version", "ab"])
            if shown.status == 0 || !shown.errors.contains("4 to 32 hex digits") { problems.append(shown.errors) }
            return problems
        }
    }
}
