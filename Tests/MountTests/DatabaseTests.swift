// Databases with their journals are one document, captured when they are quiet (DESIGN 5.1): with the real sqlite3.

import Foundation
import Support
import Testing

@Suite struct DatabaseTests {
    private static let modes = ["delete", "truncate", "persist", "wal"]

    @Test("A burst of transactions is one version, once the database is quiet", arguments: modes)
    func burst(_ mode: String) throws {
        try withContainer(named: "quiet") { container in
            guard container.isVersioned else { return [] }
            _ = try sql(container, "PRAGMA journal_mode=\(mode); CREATE TABLE t(a, b);")
            let first = try versions(of: "data.db", container, atLeast: 1)
            for number in 1...30 { _ = try sql(container, "INSERT INTO t VALUES(\(number), randomblob(3000));") }
            var problems: [String] = []
            let during = try container.history(of: "data.db").versions
            if during.count > 2 { problems.append("\(during.count) versions while it was busy") }
            let after = try versions(of: "data.db", container, atLeast: during.count + 1)
            if after.count != during.count + 1 { problems.append("\(after.count) versions, \(during.count) before") }
            if after.first?.program != "sqlite3" || after.first?.sealed != true {
                problems.append("by \(after.first?.program ?? "-")")
            }
            for number in 31...35 { _ = try sql(container, "INSERT INTO t VALUES(\(number), 'x');") }
            let last = try versions(of: "data.db", container, atLeast: after.count + 1)
            for version in last {
                let rows = version.id == after.first?.id ? "30" : version.kind == "current" ? "35" : nil
                let said = try sql(version, in: container, "PRAGMA integrity_check; SELECT count(*) FROM t;")
                if !said.hasPrefix("ok") || rows != nil && said != "ok\n\(rows ?? "")" {
                    problems.append("\(version.kind): \(said)")
                }
            }
            if first.count > 1 { problems.append("\(first.count) versions at first") }
            let names = try container.namesWithVersions()
            if names != ["data.db"] { problems.append("versions of \(names)") }
            if try !container.deleted().isEmpty {
                problems.append("in the deleted area: \(try container.deleted().map(\.path))")
            }
            return problems + (try container.checkAtRest())
        }
    }

    /// sqlite3 that goes on with the second part when it is told to.
    private func session(
        _ container: TestContainer, _ first: String, then: String, _ during: () throws -> Void
    ) throws {
        let gate = container.path + "-gate"
        try mustRun("mkfifo", [gate])
        defer { unlink(gate) }
        let line = "{ cat <<< \"$FIRST\"; read < '\(gate)'; cat <<< \"$THEN\"; } | sqlite3 data.db > /dev/null"
        var start = Child.Start("bash", ["-c", line])
        start.directory = container.path
        start.environment = ["FIRST": first, "THEN": then]
        let child = try Child(start)
        defer { child.kill() }
        try during()
        try shell("echo > '\(gate)'", in: "/")
        _ = try child.wait(.after(seconds: 30))
    }

    @Test("What is committed in the write-ahead log is in the version, also while the database is open")
    func log() throws {
        try withContainer(named: "quiet") { container in
            guard container.isVersioned else { return [] }
            var problems: [String] = []
            _ = try sql(container, "PRAGMA journal_mode=wal; CREATE TABLE t(a); INSERT INTO t VALUES(0);")
            let before = try versions(of: "data.db", container, atLeast: 1).count
            try session(
                container, "INSERT INTO t VALUES(1); INSERT INTO t VALUES(2);", then: "INSERT INTO t VALUES(3);"
            ) {
                let open = try versions(of: "data.db", container, atLeast: before + 1)
                if open.count != before + 1 { problems.append("\(open.count) versions while it is open") }
                let refused = try container.ctl([
                    "restore", container.file("data.db"), "--version", open.last?.id ?? "-",
                ])
                if refused.status != 1 || !refused.errors.contains("is open") {
                    problems.append("restore: \(refused.errors)")
                }
            }
            let after = try versions(of: "data.db", container, atLeast: before + 2)
            let history = after.filter { $0.kind == "history" }
            if let version = history.first {
                let said = try sql(version, in: container, "PRAGMA integrity_check; SELECT max(a) FROM t;")
                if said != "ok\n2" { problems.append("the version from the log: \(said)") }
            }
            if try sql(container, "SELECT max(a) FROM t") != "3" { problems.append("the database itself") }
            return problems + (try container.checkAtRest())
        }
    }

    @Test("A transaction that is not over is not captured")
    func hot() throws {
        try withContainer(named: "quiet") { container in
            guard container.isVersioned else { return [] }
            var problems: [String] = []
            _ = try sql(container, "CREATE TABLE t(a, b); INSERT INTO t VALUES(0, 0);")
            let before = try versions(of: "data.db", container, atLeast: 1).count
            let spilling =
                "PRAGMA cache_size=2; BEGIN; "
                + "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 500)"
                + " INSERT INTO t SELECT x, randomblob(2000) FROM n;"
            try session(container, spilling, then: "COMMIT;") {
                let during = try versions(of: "data.db", container, atLeast: before + 1, seconds: 8)
                if during.count != before { problems.append("captured within a transaction") }
            }
            let after = try versions(of: "data.db", container, atLeast: before + 1)
            if after.count != before + 1 { problems.append("\(after.count) versions") }
            for version in after {
                let said = try sql(version, in: container, "PRAGMA integrity_check; SELECT count(*) FROM t;")
                if said != (version.kind == "current" ? "ok\n501" : "ok\n1") {
                    problems.append("\(version.kind): \(said)")
                }
            }
            return problems + (try container.checkAtRest())
        }
    }

    @Test("Nothing waits for quiet that is unmounted, removed or replaced")
    func loss() throws {
        try withContainer(named: "quiet") { container in
            guard container.isVersioned else { return [] }
            var problems: [String] = []
            for name in ["unmounted.db", "removed.db", "replaced.db", "emptied.db"] {
                for number in 1...3 {
                    _ = try sql(container, "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES(\(number));", name)
                }
            }
            try shell(
                "rm removed.db; echo other > other; mv other replaced.db; echo emptied > emptied.db", in: container.path
            )
            try container.remount()
            try container.must("undelete", container.file("removed.db"))
            for name in ["unmounted.db", "removed.db"] {
                let said = try sql(container, "SELECT max(a) FROM t", name)
                if said != "3" { problems.append("\(name): \(said)") }
            }
            for name in ["replaced.db", "emptied.db"] {
                guard let version = try container.history(of: name).versions.first(where: { $0.kind == "history" })
                else {
                    problems.append("\(name) has no history")
                    continue
                }
                let said = try sql(version, in: container, "PRAGMA integrity_check; SELECT max(a) FROM t")
                if said != "ok\n3" { problems.append("\(name): \(said)") }
            }
            let newest = try container.history(of: "unmounted.db").versions.first
            if newest?.program != "sqlite3" { problems.append("captured at the end: by \(newest?.program ?? "-")") }
            return problems + (try container.checkAtRest())
        }
    }

    @Test(
        "A database that was captured with its log is the same after a remount; a bigger one keeps what it was before")
    func remounted() throws {
        try withContainer(named: "quiet") { container in
            guard container.isVersioned else { return [] }
            var problems: [String] = []
            _ = try sql(
                container, "PRAGMA journal_mode=wal; CREATE TABLE t(a, b); INSERT INTO t VALUES(1, zeroblob(3000000));")
            let first = try versions(of: "data.db", container, atLeast: 1)
            let program =
                """
                import os, sqlite3; c = sqlite3.connect('data.db'); c.execute('INSERT INTO t VALUES(2, 0)'); \
                c.commit(); os._exit(0)
                """
            try mustRun("python3", ["-c", program], in: container.path)
            let before = try versions(of: "data.db", container, atLeast: first.count + 1)
            try container.remount()
            try shell("head -c 100 data.db > /dev/null", in: container.path)
            // Longer than it takes to be captured.
            let after = try versions(of: "data.db", container, atLeast: before.count + 1, seconds: 8)
            if after.map(\.id) != before.map(\.id) { problems.append("\(before.count) versions, then \(after.count)") }
            _ = try sql(container, "INSERT INTO t VALUES(3, 0)")
            let last = try versions(of: "data.db", container, atLeast: after.count + 1)
            for (version, rows) in zip(last.dropFirst(), ["2", "1"]) {
                let said = try sql(version, in: container, "PRAGMA integrity_check; SELECT max(a) FROM t")
                if said != "ok\n\(rows)" { problems.append("\(version.id): \(said), not \(rows)") }
            }
            return problems + (try container.checkAtRest())
        }
    }

    @Test("A version that is restored does not meet the journal of another")
    func restoring() throws {
        try withContainer(named: "quiet") { container in
            guard container.isVersioned else { return [] }
            var problems: [String] = []
            _ = try sql(container, "PRAGMA journal_mode=wal; CREATE TABLE t(a); INSERT INTO t VALUES(1);")
            let first = try versions(of: "data.db", container, atLeast: 1)
            // As a crash of the program leaves it: the log holds what the database does not.
            let program =
                """
                import os, sqlite3; c = sqlite3.connect('data.db'); c.execute('INSERT INTO t VALUES(2)'); c.commit(); \
                os._exit(0)
                """
            try mustRun("python3", ["-c", program], in: container.path)
            if try container.names() != ["data.db", "data.db-shm", "data.db-wal"] {
                problems.append("no log: \(try container.names())")
            }
            let two = try versions(of: "data.db", container, atLeast: first.count + 1)
            try container.must("restore", container.file("data.db"), "--version", first.first?.id ?? "-")
            let said = try sql(container, "PRAGMA integrity_check; SELECT max(a) FROM t")
            if said != "ok\n1" { problems.append("restored: \(said), \(two.count) versions") }
            return problems + (try container.checkAtRest())
        }
    }
}
