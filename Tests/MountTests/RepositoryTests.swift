// git and SQLite on the mount: their own checks stay clean, and what they do is history without conflicts.

import Foundation
import Support
import Testing

@Suite struct RepositoryTests {
    /// Commands that make a repository with two branches that differ in `f.txt` and `other.txt`.
    static let setUp = """
        git init -q -b main . && echo one > f.txt && echo x > other.txt && git add . && git commit -qm first
        git checkout -q -b side && echo two > f.txt && git commit -qam second && git checkout -q main
        """

    private func git(_ container: TestContainer, _ line: String) throws {
        try shell(gitIdentity + "\n" + line, in: container.path, seconds: 120)
    }

    /// What every test of a repository looks at in the end.
    private func soundness(_ container: TestContainer) throws -> [String] {
        var problems: [String] = []
        let fsck = try run("git", ["fsck", "--full", "--strict"], in: container.path)
        if fsck.status != 0 || !fsck.errors.isEmpty { problems.append("git fsck: \(fsck.text) \(fsck.errors)") }
        guard container.isVersioned else { return problems }
        let conflicts = try container.conflicts().map(\.path)
        if !conflicts.isEmpty { problems.append("conflicts: \(conflicts)") }
        let inside = try container.deleted().map(\.path).filter { $0.hasPrefix(".git/") }
        if !inside.isEmpty { problems.append("git's own deletions were kept: \(inside.prefix(5))") }
        return problems + (try container.checkFindings())
    }

    /// Commands, the content of f.txt afterwards, and how many versions of it they add.
    static let commands: [(String, String, Int)] = [
        ("git checkout -q side", "two\n", 1),
        ("git reset -q --hard side", "two\n", 1),
        ("git merge -q side", "two\n", 1),
        ("echo three > f.txt && git stash -q", "one\n", 2),
        ("echo three > f.txt && git stash -q && git stash pop -q", "three\n", 3),
        ("echo three > f.txt && git commit -qam third", "three\n", 1),
        ("echo three > f.txt && git checkout -q -- f.txt", "one\n", 2),
        ("git checkout -q side && git checkout -q main", "one\n", 2),
        ("git rebase -q side", "two\n", 1),
        ("git gc -q --aggressive --prune=now", "one\n", 0),
    ]

    @Test("What git does to a file is history", arguments: commands)
    func gitCommand(_ line: String, content: String, added: Int) throws {
        try withContainer(named: "git") { container in
            try git(container, RepositoryTests.setUp)
            let before = container.isVersioned ? try container.history(of: "f.txt").versions.count : 0
            try git(container, line)
            var problems = try soundness(container)
            if container.text(of: "f.txt") != content {
                problems.append("content: \(container.text(of: "f.txt") ?? "gone")")
            }
            guard container.isVersioned else { return problems }
            let history = try container.history(of: "f.txt")
            problems += lineProblems(history)
            if history.versions.count != before + added {
                problems.append("\(history.versions.count - before) new versions, not \(added)")
            }
            return problems
        }
    }

    @Test("A repository of 500 files lives through commits, branches, merges and gc")
    func realRepository() throws {
        try withContainer(named: "git", seconds: 300) { container in
            try git(
                container,
                """
                git init -q -b main .
                for d in $(seq 1 10); do mkdir d$d; for f in $(seq 1 50); do echo "$d $f" > d$d/f$f; done; done
                git add . && git commit -qm first
                for b in $(seq 1 5); do
                    git checkout -q -b b$b main; for f in $(seq 1 50); do echo "branch $b" >> d$b/f$f; done
                    git mv d$b/f1 d$b/renamed; git rm -qf d$b/f2; git commit -qam "branch $b"; git checkout -q main
                done
                for b in $(seq 1 5); do git merge -q --no-edit b$b; done
                git gc -q --prune=now; git status --porcelain | { ! grep .; }
                """)
            var problems = try soundness(container)
            let clone = try Workplace.fresh("clone")
            try mustRun("git", ["clone", "-q", container.path, clone + "/c"], seconds: 60)
            let difference = try run("diff", ["-r", "-x", ".git", container.path, clone + "/c"])
            if difference.status != 0 { problems.append("a clone differs: \(difference.text.prefix(500))") }
            try FileManager.default.removeItem(atPath: clone)
            return problems
        }
    }

    @Test(
        "A database stays sound, is one document, and leaves no journal behind",
        arguments: ["delete", "truncate", "persist", "wal"])
    func database(_ mode: String) throws {
        try withContainer(named: "sqlite") { container in
            let path = container.file("data.db")
            try mustRun(
                "sqlite3", [path, "PRAGMA journal_mode=\(mode); CREATE TABLE t(a, b); INSERT INTO t VALUES(0, 'x');"])
            // Two writers and a reader at once, as applications do.
            let writer =
                "PRAGMA busy_timeout=20000; INSERT INTO t VALUES((SELECT max(a) + 1 FROM t), randomblob(5000));\n"
            let script = "for i in $(seq 100); do echo \"\(writer.dropLast())\"; done | sqlite3 data.db > /dev/null"
            try shell(
                "(\(script)) & a=$!; (\(script)) & b=$!; "
                    + "for i in $(seq 20); do sqlite3 data.db '.timeout 20000' 'SELECT count(*) FROM t' > /dev/null; "
                    + "done; "
                    + "wait $a; wait $b",
                in: container.path, seconds: 100)
            var problems: [String] = []
            let check = try mustRun("sqlite3", [path, "PRAGMA integrity_check; SELECT count(*), max(a) FROM t;"]).text
            if check != "ok\n201|200" { problems.append("the database says: \(check)") }
            guard container.isVersioned else { return problems }
            let deleted = try container.deleted().map(\.path)
            if !deleted.isEmpty { problems.append("in the deleted area: \(deleted)") }
            if try !container.conflicts().isEmpty { problems.append("conflicts in a database") }
            return problems + (try container.checkFindings())
        }
    }
}
