// Asking databases, and versions of them, with the real sqlite3.

import Foundation

@discardableResult
public func sql(_ container: TestContainer, _ text: String, _ file: String = "data.db") throws -> String {
    try mustRun("sqlite3", [container.file(file), ".timeout 10000", text]).text
}

/// What a version says when it is opened as a database of its own.
public func sql(_ version: VersionRecord, in container: TestContainer, _ text: String) throws -> String {
    let copy = container.path + "-copy.db"
    defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(copy + suffix) } }
    _ = FileManager.default.createFile(atPath: copy, contents: Data(try container.content(of: version)))
    return try mustRun("sqlite3", [copy, text]).text
}

/// Waits until a document has so many versions; there is no event for what has not happened yet.
public func versions(
    of file: String, _ container: TestContainer, atLeast count: Int, seconds: Double = 30
) throws -> [VersionRecord] {
    let deadline = Deadline.after(seconds: seconds)
    while true {
        let output = try container.ctl(["history", container.file(file), "--json"])
        let found = output.status == 0 ? try container.history(of: file).versions : []
        if found.count >= count || deadline.isOver { return found }
        _ = Deadline.after(seconds: 0.2).poll([])
    }
}

/// A program that has a database in WAL mode open, with three rows in the log, and goes on so until it is killed.
public final class DatabaseUser {
    private let child: Child

    /// Returns once the rows are committed.
    public init(of file: String = "data.db", rows: Int = 3, in container: TestContainer) throws {
        let ready = container.path + "-ready"
        try mustRun("mkfifo", [ready])
        defer { unlink(ready) }
        let program = """
            import os, sqlite3, sys, time
            c = sqlite3.connect(sys.argv[1], isolation_level=None)
            c.execute('PRAGMA journal_mode=wal')
            c.execute('CREATE TABLE IF NOT EXISTS t(a)')
            for n in range(1, int(sys.argv[2]) + 1): c.execute('INSERT INTO t VALUES(?)', (n,))
            open(sys.argv[3], 'w').close()
            while True: time.sleep(1000)
            """
        var start = Child.Start("python3", ["-c", program, file, String(rows), ready])
        start.directory = container.path
        child = try Child(start)
        try shell("read < '\(ready)' || true", in: "/")
    }

    /// As a crash: the log stays.
    public func kill() { child.kill() }

    deinit { child.kill() }
}
