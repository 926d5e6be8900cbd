// Taking a big database away, or bringing it back, holds up nobody else.

import Foundation
import Support
import Testing

@Suite(.serialized) struct BigDatabaseTests {
    private static let megabytes = 250
    /// With where others work meanwhile: the kernel lets nobody into a directory while a name is taken from it.
    private static let losses = [
        ("rm data.db-wal", "elsewhere"), ("rm data.db", "elsewhere"), ("mv other data.db", "elsewhere"),
        (": > data.db", "."), ("truncate -s 0 data.db", "."),
    ]

    /// A program with a big database open, and three rows in its log.
    private func user(of container: TestContainer) throws -> DatabaseUser {
        try sql(container, "CREATE TABLE big(b); INSERT INTO big VALUES(zeroblob(\(Self.megabytes << 20)))")
        return try DatabaseUser(in: container)
    }

    @Test("While a big database is copied because it is about to go, others go on", arguments: losses)
    func loss(_ command: String, _ directory: String) throws {
        let files = ["other": "other", "elsewhere/f": "f"]
        try withContainer(named: "loss", files: files, seconds: 300) { container in
            guard container.isVersioned else { return [] }
            let program = try user(of: container)
            defer { program.kill() }
            return try held(directory, of: container, by: command)
        }
    }

    @Test("While a big database comes back with what its log had, others go on in its directory")
    func undeleted() throws {
        try withContainer(named: "undeleted", seconds: 300) { container in
            guard container.isVersioned else { return [] }
            let program = try user(of: container)
            try shell("rm data.db data.db-wal data.db-shm", in: container.path)
            program.kill()
            let problems = try held(".", of: container, by: "'\(Workplace.control)' undelete data.db")
            let said = try sql(container, "PRAGMA integrity_check; SELECT max(a), length(b) FROM t, big")
            return problems + (said == "ok\n3|\(Self.megabytes << 20)" ? [] : ["undeleted: \(said)"])
                + (try container.checkAtRest())
        }
    }

    /// Runs a command, and beside it calls in a directory: if one of them takes half as long, it has waited for it.
    private func held(_ directory: String, of container: TestContainer, by command: String) throws -> [String] {
        let neighbor = try ActorProcess("neighbor", in: container.file(directory))
        try neighbor.must("stat", ".")
        var start = Child.Start("bash", ["-c", command])
        start.directory = container.path
        let began = ContinuousClock.now
        let child = try Child(start)
        var (slowest, call): (Duration, String) = (.zero, "")
        var round = 0
        while child.isRunning {
            round += 1
            let name = "n\(round)"
            for request in [["open", "h", name, "w+creat+excl"], ["close", "h"], ["stat", name], ["unlink", name]] {
                let start = ContinuousClock.now
                try neighbor.begin(request[0], Array(request.dropFirst()))
                if case .failed(let code) = try neighbor.finish() { throw Failure("\(request): errno \(code)") }
                let took = ContinuousClock.now - start
                if took > slowest { (slowest, call) = (took, request[0]) }
            }
        }
        let total = ContinuousClock.now - began
        print(
            "BigDatabaseTests: \(command) took \(total), the slowest of \(round) rounds beside it \(slowest) (\(call))"
        )
        let status = try child.wait(.after(seconds: 10))
        return (status == 0 ? [] : ["\(command) ended with \(status)"])
            + (slowest > max(total / 2, .milliseconds(50))
                ? ["\(call) took \(slowest) of the \(total) of \(command)"] : [])
    }
}
