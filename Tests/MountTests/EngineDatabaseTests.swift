// Databases in a mount over the engine: what is behind a kill of the daemon, and behind a stay unmounted.

import Foundation
import Support
import Testing

@Suite("The engine: databases")
struct EngineDatabaseTests {
    private func withEngine(_ body: (TestContainer) throws -> [String]) throws {
        try MountTests.withEngine(level: .versioned, body)
    }

    /// What the versions say, newest first.
    private func rows(_ container: TestContainer) throws -> [String] {
        try container.history(of: "data.db").versions.map {
            (try? sql($0, in: container, "SELECT max(a) FROM t")) ?? "no database"
        }
    }

    /// The problem of a history that is another one once the database was read and had time to be captured.
    private func problems(_ expected: [String], _ container: TestContainer) throws -> [String] {
        try shell("head -c 100 data.db > /dev/null", in: container.path)
        _ = try versions(of: "data.db", container, atLeast: expected.count + 1, seconds: 8)
        let found = try rows(container)
        return found == expected ? [] : ["the versions say \(found), not \(expected)"]
    }

    @Test("A kill of the daemon makes no version of a database whose log has more, and loses none")
    func killed() throws {
        try withEngine { container in
            let program = try DatabaseUser(in: container)
            _ = try versions(of: "data.db", container, atLeast: 1)
            let before = try rows(container)
            program.kill()
            try container.kill()
            try container.mount()
            var problems = try problems(["3"], container)
            if before != ["3"] { problems.append("before the kill they say \(before)") }
            if try sql(container, "INSERT INTO t VALUES(4); SELECT max(a) FROM t") != "4" { problems.append("no 4") }
            _ = try versions(of: "data.db", container, atLeast: 2)
            let after = try rows(container)
            if after != ["4", "3"] { problems.append("then they say \(after)") }
            return problems + (try container.checkAtRest())
        }
    }

    @Test("What a log got while nothing was mounted is a version, and one without it is none")
    func unmounted() throws {
        try withEngine { container in
            let program = try DatabaseUser(in: container)
            _ = try versions(of: "data.db", container, atLeast: 1)
            program.kill()
            try container.remount()
            var problems = try problems(["3"], container)
            try container.unmount()
            let other = """
                import os, sqlite3; c = sqlite3.connect('data.db'); c.execute('INSERT INTO t VALUES(4)'); c.commit(); \
                os._exit(0)
                """
            try mustRun("python3", ["-c", other], in: container.path)
            try container.mount()
            problems += try self.problems(["4", "3"], container)
            return problems + (try container.checkAtRest())
        }
    }

    @Test("A database that was removed while a program has it open comes back with what its log had")
    func undeletedOpen() throws {
        try withEngine { container in
            let program = try DatabaseUser(in: container)
            defer { program.kill() }
            try shell("rm data.db data.db-wal data.db-shm", in: container.path)
            try container.must("undelete", container.file("data.db"))
            let said = try sql(container, "PRAGMA integrity_check; SELECT max(a) FROM t")
            return said == "ok\n3" ? [] : ["undeleted: \(said)"]
        }
    }

    @Test("A conflict is none where two programs write to one database")
    func quiet() throws {
        try withEngine { container in
            let program = try DatabaseUser(in: container)
            _ = try versions(of: "data.db", container, atLeast: 1)
            _ = try sql(container, "INSERT INTO t VALUES(4)")
            _ = try versions(of: "data.db", container, atLeast: 2, seconds: 80)
            program.kill()
            _ = try sql(container, "INSERT INTO t VALUES(5)")
            try container.remount()
            let history = try container.history(of: "data.db").versions
            let kinds = Set(history.map(\.kind))
            return kinds == ["current", "history"] ? [] : ["kinds: \(kinds)"]
        }
    }
}
