// `versionsctl query` over a real mount: what is there, as far as the caller may know it, and how it changes.

import Foundation
import Support
import Testing

@Suite("Queries over a mount") struct QueryTests {
    private struct Entry: Decodable, Hashable {
        var id: String
        var path: String
        var type: String
        var size: UInt64
        var version: String?
        var versions: Int?
        var conflicts: Int?
        var user: String?
    }

    private struct Line: Decodable {
        var event: String
        var item: Entry?
        var from: String?
        var count: Int?
    }

    private func query(
        _ container: TestContainer, _ arguments: String..., asUser user: UInt32? = nil
    ) throws -> [Entry] {
        let output = try container.ctl(["query", "--json"] + arguments, asUser: user, seconds: 60)
        guard output.status == 0 else { throw Failure("query \(arguments): \(output.errors)") }
        return try JSONDecoder().decode([Entry].self, from: Data(output.stdout))
    }

    @Test("everything is listed as find lists it, with its versions, and predicates choose among it")
    func listing() throws {
        try withContainer(named: "query", files: ["a.txt": "1", "d/b.sicd": "22", "d/e/c.txt": "333"]) { container in
            guard container.isVersioned else { return [] }
            try shell(
                """
                ln -s a.txt link; ln d/e/c.txt d/hard; mkfifo pipe; printf x > $'no\\xfftext'; mkdir empty
                echo 2 >> a.txt; echo 3 >> a.txt
                """, in: container.path)
            try container.must("simulate", "conflict", "d/b.sicd")
            var problems: [String] = []
            func expect(_ predicate: String, _ expected: [String], in directory: String = ".") throws {
                let found = try query(container, predicate, directory).map(\.path).sorted()
                if found != expected.sorted() { problems.append("\(predicate): \(found)") }
            }
            let all = try shell("find . -mindepth 1 | cut -c3- | tr '\\377' '?'", in: container.path).text
                .split(separator: "\n").map { $0.replacingOccurrences(of: "?", with: "\u{FFFD}") }
            try expect("", all)
            try expect("", all.filter { $0.hasPrefix("d/") }, in: "d")
            try expect("", ["a.txt"], in: "a.txt")
            try expect("name LIKE '*.sicd' AND conflicts > 0", ["d/b.sicd"])
            try expect("name LIKE '*.txt' AND conflicts > 0", [])
            try expect("versions > 1 AND conflicts = 0", ["a.txt"])
            try expect("type = symlink OR type = fifo", ["link", "pipe"])
            try expect("size = 3", ["d/e/c.txt", "d/hard"])
            try expect("name LIKE 'no\\xfftext'", ["no\u{FFFD}text"])
            try expect("modified > 1h AND type = directory AND name = empty", ["empty"])
            try expect("modified < 1h", [])
            try expect("extension = txt AND NOT path LIKE 'd/*'", ["a.txt"])
            let one = try query(container, "name = a.txt").first
            let history = try container.history(of: "a.txt").versions
            if one?.version != history.first?.id || one?.versions != history.count {
                problems.append("\(String(describing: one))")
            }
            let inode = try shell("stat -c %i d", in: container.path).text
            let directory = try query(container, "path = d").first
            if directory?.id != inode { problems.append("id \(directory?.id ?? "-"), inode \(inode)") }
            if one?.id != history.first?.item { problems.append("id \(one?.id ?? "-")") }
            let wrong = try container.ctl(["query", "nam = 1"])
            if wrong.status != 64 || !wrong.errors.contains("character 1, \"nam\": expected an attribute") {
                problems.append("\(wrong.status) \(wrong.errors)")
            }
            let missing = try container.ctl(["query", "TRUE", "nothing"])
            if missing.status != 1 || !missing.errors.contains(Told.noSuchFile) { problems.append(missing.errors) }
            return problems
        }
    }

    @Test("what gets no versions is left out, and what was there before has its file's own version")
    func ignored() throws {
        try withContainer(named: "query", files: [".versionsignore": "*.o\n", "x.o": "1", "y.c": "1"]) { container in
            guard container.isVersioned else { return [] }
            let before = try query(container, "type = file").map(\.path)
            try shell("echo 2 > z.o; echo 2 > z.c; touch open.c", in: container.path)
            let after = try query(container, "type = file").map(\.path)
            var problems: [String] = []
            if before != [".versionsignore", "y.c"] { problems.append("before: \(before)") }
            if after != [".versionsignore", "open.c", "y.c", "z.c"] { problems.append("after: \(after)") }
            return problems
        }
    }

    @Test(
        """
        another user learns no name in a directory that is closed to them, and of a closed file what its directory tells
        """)
    func rights() throws {
        let (alice, bob): (UInt32, UInt32) = (5, 65534)
        try withContainer(named: "query") { container in
            guard container.isVersioned else { return [] }
            chmod(container.path, 0o1777)
            try mustRun("bash", ["-ec",
                """
                umask 022; mkdir -m 700 closed; mkdir -m 711 passable; mkdir -m 744 unsearchable; mkdir open
                for d in closed passable unsearchable open; do echo 1 > $d/secret-$d; done
                echo 1 > open/private; chmod 600 open/private; echo 2 > open/private
                """], in: container.path, asUser: alice)
            let mine = try query(container, asUser: alice)
            let seen = try query(container, asUser: bob)
            var problems: [String] = []
            if mine.count != 9 { problems.append("alice sees \(mine.map(\.path))") }
            let expected = ["closed", "open", "open/private", "open/secret-open", "passable", "unsearchable"]
            if seen.map(\.path) != expected { problems.append("bob sees \(seen.map(\.path))") }
            let secret = seen.first { $0.path == "open/private" }
            if secret?.user != nil || secret?.versions != nil || secret?.version != nil {
                problems.append("\(String(describing: secret))")
            }
            if try container.ctl(["query", "TRUE", "closed"], asUser: bob).status != 1 {
                problems.append("closed was listed")
            }
            // Live: a directory that opens shows what is in it, one that closes hides it, and nothing in a closed one
            // is named.
            let lines = try followed(
                container, "", """
                    echo 2 > closed/more; mv closed/more closed/else; rm closed/else; chmod 755 closed; sync .
                    echo x > open/told; chmod 700 open; echo y > open/untold; rm open/untold
                    """, asUser: bob, doing: alice)
            let words = lines.compactMap { line in line.item.map { "\(line.event) \($0.path)" } }
            for word in ["added closed/secret-closed", "removed open/secret-open", "removed open/private"]
            where !words.contains(word) {
                problems.append("no \(word) in \(words)")
            }
            for name in ["closed/more", "closed/else", "open/untold"]
            where words.contains(where: { $0.hasSuffix(name) }) {
                problems.append("\(name) was told")
            }
            return problems
        }
    }

    /// What a live query prints while a script runs that is begun when the first set is complete.
    private func followed(
        _ container: TestContainer, _ predicate: String, _ script: String, asUser user: UInt32? = nil,
        doing doer: UInt32? = nil
    ) throws -> [Line] {
        let become = doer.map { "setpriv --reuid=\($0) --regid=\($0) --clear-groups -- " } ?? ""
        let follow = user.map { "setpriv --reuid=\($0) --regid=\($0) --clear-groups -- " } ?? ""
        let output = try run(
            "bash",
            [
                "-c",
                """
                exec 3< <(exec \(follow)"$CTL" query --live --json "$PREDICATE"); watcher=$!
                sed '/"event":"gathered"/q' <&3 | cat > ../first
                """ + "\n" + """
                \(become)bash -c "$SCRIPT" >&2
                echo > zzz-end; sed '/"event":"added".*zzz-end/q' <&3; kill $watcher
                """,
            ], in: container.path,
            environment: ["CTL": Workplace.control, "PREDICATE": predicate, "SCRIPT": script], seconds: 90)
        let first = try shell("cat ../first", in: container.path).text
        return try (first + "\n" + output.text).split(separator: "\n").map { line in
            try JSONDecoder().decode(Line.self, from: Data(line.utf8))
        }
    }

    /// Of each entry what saves change; a save of the same content is not told, and changes the file's time alone.
    @Test("a live query ends up with what a query afterwards finds, whatever three programs have done meanwhile")
    func converges() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { Int($0) }
        let seed = given ?? (Workplace.isFull ? Int.random(in: 0..<1_000_000) : 20_261_122)
        print("QueryTests.converges: seed \(seed)")
        try withContainer(named: "query", files: (0..<3).reduce(into: [:]) { files, number in
            files.merge(["\(number)/a": "1", "\(number)/d/b": "22", "\(number)/d/e/c": "333"]) { first, _ in first }
        }) { container in
            guard container.isVersioned else { return [] }
            let steps = Workplace.isFull ? 1500 : 250
            let script = (0..<3).map { "(cd \($0); python3 -c '\(Self.mischief)' \(seed + $0) \(steps)) &" }.joined(
                separator: "\n")
            let lines = try followed(container, "NOT name = unmatched", script + "\nwait")
            var told: [String: Entry] = [:]
            var problems: [String] = []
            for line in lines {
                guard let item = line.item else { continue }
                if let from = line.from, told.removeValue(forKey: from) == nil {
                    problems.append("\(from) was not told")
                }
                switch line.event {
                case "removed":
                    if told.removeValue(forKey: item.path) == nil { problems.append("\(item.path) removed, not told") }
                default: told[item.path] = item
                }
            }
            let now = try query(container, "NOT name = unmatched")
            let truth = Dictionary(now.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
            for path in Set(truth.keys).union(told.keys).sorted() where truth[path] != told[path] {
                problems.append(
                    "\(path): told \(String(describing: told[path])), is \(String(describing: truth[path]))")
            }
            if lines.count < 40 { problems.append("only \(lines.count) lines") }
            return Array(problems.prefix(20))
        }
    }

    /// Files and directories made, written, renamed, linked, replaced and removed at random.
    private static let mischief = """
        import os, random, shutil, sys
        r = random.Random(int(sys.argv[1]))
        def d(): return r.choice(["", "d/", "d/e/", "x/", "x/y/", "d/x/"])
        def p(): return d() + r.choice(["a", "b", "c", "unmatched", "f1", "f2", "f3"])
        def write(q, t):
            with open(q, "w") as f: f.write(t)
        def replace():
            q = p(); t = q + ".tmp%d" % os.getpid()
            write(t, "r" * r.randrange(50)); os.rename(t, q)
        moves = [
            lambda: write(p(), "w" * r.randrange(50)), lambda: open(p(), "a").write("more"), replace,
            lambda: os.rename(p(), p()), lambda: os.unlink(p()), lambda: os.link(p(), p()), \
        lambda: os.symlink("a", p()),
            lambda: os.mkdir(d()[:-1] or "x"), lambda: os.mkdir(d() + "x"), lambda: os.rename(d()[:-1], d()[:-1]),
            lambda: shutil.rmtree(d()[:-1] or "x"), lambda: os.chmod(p(), r.choice([0o600, 0o644])),
            lambda: os.truncate(p(), r.randrange(9)),
        ]
        for _ in range(int(sys.argv[2])):
            try: r.choice(moves)()
            except OSError: pass
        """
}
