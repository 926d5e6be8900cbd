// What is committed in a database's log is kept before the database goes, and is what its version gives (DESIGN 5.1).

import Foundation
import Support
import Testing

@Suite struct DatabaseLossTests {
    /// What takes a database away from a program that has it open.
    private static let losses = [
        "rm data.db", "rm data.db*", "rm data.db-wal; rm data.db", ": > data.db", "truncate -s 0 data.db",
        "echo other > other; mv other data.db",
    ]

    @Test(
        "What a program has committed to a database that it has open is a version before the database goes",
        arguments: losses)
    func loss(_ command: String) throws {
        try withContainer(named: "loss") { container in
            guard container.isVersioned else { return [] }
            let program = try DatabaseUser(in: container)
            try shell(command, in: container.path)
            program.kill()
            let said = try container.history(of: "data.db").versions.map {
                (try? sql($0, in: container, "SELECT max(a) FROM t")) ?? "no database"
            }
            return (said.contains("3") ? [] : ["after \(command): the versions say \(said)"])
                + (try container.checkAtRest())
        }
    }

    @Test("A database that was removed with its log comes back with what the log had")
    func undeleted() throws {
        try withContainer(named: "undeleted") { container in
            guard container.isVersioned else { return [] }
            let program = try DatabaseUser(in: container)
            try shell("rm data.db data.db-wal data.db-shm", in: container.path)
            program.kill()
            try container.must("undelete", container.file("data.db"))
            let said = try sql(container, "PRAGMA integrity_check; SELECT max(a) FROM t")
            let versions = try container.history(of: "data.db").versions
            return (said == "ok\n3" ? [] : ["undeleted: \(said)"])
                + (versions.count == 1 ? [] : ["\(versions.count) versions"]) + (try container.checkAtRest())
        }
    }

    @Test("The current version of a database that is open is what its readers see, with the size and hash that it says")
    func shown() throws {
        try withContainer(named: "shown") { container in
            guard container.isVersioned else { return [] }
            let program = try DatabaseUser(in: container)
            defer { program.kill() }
            var problems: [String] = []
            guard let version = try versions(of: "data.db", container, atLeast: 1).first else { return ["no version"] }
            if version.kind != "current" { problems.append("it is \(version.kind)") }
            if try container.content(of: version).count != Int(version.size) {
                problems.append("its file has another size")
            }
            let said = try sql(version, in: container, "PRAGMA integrity_check; SELECT max(a) FROM t")
            if said != "ok\n3" { problems.append("file: \(said)") }
            try shell("'\(Workplace.control)' show data.db > '\(container.path)-shown.db'", in: container.path)
            defer { unlink(container.path + "-shown.db") }
            let shown = try mustRun("sqlite3", [container.path + "-shown.db", "SELECT max(a) FROM t"]).text
            if shown != "3" { problems.append("show: \(shown)") }
            let listed = try container.names(in: ".versions/data.db/history")
            if !listed.isEmpty { problems.append("history lists \(listed)") }
            program.kill()
            // Nothing but the database any more: it is the version itself.
            _ = try sql(container, "PRAGMA wal_checkpoint; PRAGMA journal_mode=delete; INSERT INTO t VALUES(4)")
            let last = try versions(of: "data.db", container, atLeast: 2).first
            if last?.file != container.file("data.db") { problems.append("at rest: \(last?.file ?? "-")") }
            return problems + (try container.checkAtRest())
        }
    }

    @Test("A database that stays open is captured 5 s after its last change, the first time too")
    func soon() throws {
        try withContainer(named: "soon") { container in
            guard container.isVersioned else { return [] }
            let program = try DatabaseUser(in: container)
            defer { program.kill() }
            let began = ContinuousClock.now
            _ = try versions(of: "data.db", container, atLeast: 1)
            let took = ContinuousClock.now - began
            // Twice as long was the fault; a busy machine may be some seconds late.
            return took < .seconds(9) ? [] : ["it took \(took)"]
        }
    }

    @Test(
        "A database that is open is removed from a full file system",
        .enabled(if: getuid() == 0, "making a file system takes root"))
    func full() throws {
        try withFileSystem(.ext4, megabytes: 100) { base in
            try withContainer(named: "full", on: base) { container in
                guard container.isVersioned else { return [] }
                let program = try DatabaseUser(rows: 2000, in: container)
                defer { program.kill() }
                _ = try run("bash", ["-c", "cat /dev/zero > filler"], in: container.path)
                let output = try run("rm", ["data.db"], in: container.path)
                program.kill()
                try shell("rm filler", in: container.path)
                return (output.status == 0 ? [] : ["rm: \(output.errors)"]) + (try container.checkAtRest())
            }
        }
    }
}
