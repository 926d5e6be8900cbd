// A full file system: saves go on, at the cost of what may be purged, oldest first, and the daemon says so.

import CTestSupport
import Foundation
import Support
import Synchronization
import Testing

@Suite(.enabled(if: getuid() == 0, "making a file system takes root")) struct SpaceTests {
    private static let megabyte = 1 << 20

    /// Writes numbered content of one MiB over a document, as `>` does.
    private func save(_ number: Int, _ file: String) throws {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure.call("open \(file)") }
        defer { close(descriptor) }
        var rest = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Self.megabyte)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failure.call("write \(file)") }
            rest = rest.dropFirst(count)
        }
    }

    private func status(_ container: TestContainer) throws -> String {
        try container.must("status", container.path).text
    }

    /// Fills the file system from outside the mount until nothing is left: in a moment, or the file would also take
    /// the room that the daemon makes meanwhile.
    private func fill(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure.call("open \(path)") }
        defer { close(file) }
        var end: off_t = 0
        for size in stride(from: 28, through: 12, by: -4).map({ off_t(1) << $0 }) {
            while posix_fallocate(file, end, size) == 0 { end += size }
        }
        fsync(file)
    }

    @Test("On a full file system an open made afterwards still saves, and the oldest contents go first")
    func fullFileSystem() throws {
        try withFileSystem(.ext4, megabytes: 320) { base in
            try withContainer(named: "full", on: base, settings: ["history.share": "100%", "deleted.share": "100%"]) {
                container in
                guard container.isVersioned else { return [] }
                var problems: [String] = []
                for number in 1...30 { try save(number, container.file("a")) }
                try save(99, container.file("gone"))
                unlink(container.file("gone"))
                for number in 31...60 { try save(number, container.file("a")) }
                let before = try container.history(of: "a").versions
                if before.count != 60 { problems.append("\(before.count) versions before") }
                if try status(container).contains(Told.nearlyFull) { problems.append("said to be full too early") }
                try fill(base + "/filler")
                for number in 61...63 {
                    do { try save(number, container.file("a")) } catch { problems.append("save \(number): \(error)") }
                }
                let after = try container.history(of: "a").versions
                let current = FileManager.default.contents(atPath: container.file("a")) ?? Data()
                if current != Data(repeating: 63, count: Self.megabyte) {
                    problems.append("the last save is not whole")
                }
                // Newest first: what is left are the newest, without a gap.
                let left = Set(after.map(\.id)).intersection(before.map(\.id))
                if left.isEmpty || left.count == before.count { problems.append("\(left.count) of 60 left") }
                if Set(before.prefix(left.count).map(\.id)) != left { problems.append("not the oldest went") }
                if after.count != left.count + 3 {
                    problems.append("\(after.count) versions, \(left.count) from before")
                }
                // Deleted after the 30th save: it goes with those that are as old.
                let deleted = try container.deleted().map(\.path)
                if left.count < 30, !deleted.isEmpty { problems.append("older than what went: \(deleted)") }
                if left.count > 30, deleted != ["gone"] { problems.append("the deleted file went before older saves") }
                for version in after {
                    if (try? container.content(of: version).count) == Self.megabyte { continue }
                    // The background thread may have given up another one for the last save's sake.
                    let isListed = try container.history(of: "a").versions.contains { $0.id == version.id }
                    if isListed { problems.append("version \(version.id) is not whole") }
                }
                if !(try status(container)).contains(Told.nearlyFull) { problems.append("status does not say so") }
                if container.log.components(separatedBy: "nearly full").count - 1 != 1 {
                    problems.append("not logged once")
                }
                return problems + (try container.checkFindings())
            }
        }
    }

    /// Appends to a live file until the file system is full and nothing is left that could be given up.
    private func fillWithLiveFile(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure.call("open \(path)") }
        defer { close(file) }
        for size in [1 << 20, 4096, 64] {
            let block = [UInt8](repeating: 7, count: size)
            while write(file, block, size) > 0 {}
        }
        fsync(file)
    }

    /// What people do to make room, or what does not need any; each on a file system without a free block.
    private static let onFull: [(name: String, command: String)] = [
        ("rm", "rm f1"), ("> f", ": > f2"), ("truncate(2)", "truncate -s 0 f3"), ("rename over", "mv f4 f5"),
        ("rename over a small one", "mv small/1 small/2"), ("rm of a small file", "rm small/3"),
        ("rm -r", "rm -r many"), ("rmdir", "rmdir empty"), ("unlink of a symlink", "rm symlink"),
        ("rename to a new name", "mv f6 f7"), ("rm of a name of several", "rm linked"),
        ("open for reading and writing", "exec 3<> small/4"), ("chmod", "chmod 600 small/4"),
        ("touch", "touch small/4"), ("a save by rename, ready before", "mv small/new small/5"),
    ]

    @Test(
        "On a file system full of live files, what makes room works, and status says what to do",
        arguments: [FileSystemType.ext4, .xfs])
    func fullOfLiveFiles(_ type: FileSystemType) throws {
        try withFileSystem(type, megabytes: type == .ext4 ? 100 : 320) { base in
            try withContainer(named: "live", on: base, seconds: 300) { container in
                guard container.isVersioned else { return [] }
                for number in 1...8 { try save(number, container.file("f\(number)")) }
                try shell(
                    "mkdir small many empty; for i in 1 2 3 4 5 new; do echo $i > small/$i; done; ln -s f1 symlink;"
                        + " ln f8 linked; for i in $(seq 300); do echo $i > many/$i; done", in: container.path)
                var problems: [String] = []
                for (name, command) in Self.onFull {
                    try fillWithLiveFile(container.file("filler"))
                    let output = try run("bash", ["-c", command], in: container.path)
                    if output.status != 0 { problems.append("\(name): \(output.errors)") }
                }
                try fillWithLiveFile(container.file("filler"))
                let text = try status(container)
                if !text.contains("nothing is left that may be given up") { problems.append("status: \(text)") }
                try shell("rm filler; echo again > f9; rm f9", in: container.path)
                if try container.names().contains("filler") { problems.append("the filler is still there") }
                if container.text(of: "small/5") != "new\n" { problems.append("the save by rename is not there") }
                let left = try container.names(in: "small")
                if left != ["2", "4", "5"] { problems.append("small has \(left)") }
                // What was truncated without room for a copy is told of, and the file is not left as it was.
                let emptied = try container.history(of: "f2").versions.map { "\($0.kind) \($0.size)" }
                if emptied.first != "current 0" { problems.append("f2 has \(emptied)") }
                return problems + (try container.checkAtRest())
            }
        }
    }

    /// In MiB: its removal makes room for all that is appended then.
    private static let leastFiller = 60.0

    /// Fills the file system, removes what fills it, and appends at once to files that were opened before.
    /// - Returns: the errors of the appends.
    private func appendAfterRemoval(_ container: TestContainer, on base: String) throws -> [Int32] {
        // The daemon gives up in the background what the round before has removed; no event tells of free blocks.
        let deadline = Deadline.after(seconds: 20)
        while try available(base) < Self.leastFiller, !deadline.isOver { usleep(5_000) }
        let filler = container.file("filler")
        let file = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure.call("open \(filler)") }
        let block = [UInt8](repeating: 7, count: Self.megabyte)
        var megabytes = 0.0
        while try available(base) > 3, write(file, block, block.count) == block.count { megabytes += 1 }
        close(file)
        guard megabytes > Self.leastFiller - 10 else {
            throw Failure("the filler has only \(megabytes) MiB: its removal makes no room")
        }
        // Opened while the file system is nearly full: their writes come to the daemon.
        let names = (1...4).map { container.file("w\($0)") }
        let files = names.map { open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) }
        defer {
            for file in files { close(file) }
            for name in names + [container.file("rest")] { unlink(name) }
        }
        // Another file: the daemon hears of a close only after the program, and the file keeps its room until then.
        try fillWithLiveFile(container.file("rest"))
        guard unlink(filler) == 0 else { throw Failure.call("unlink \(filler)") }
        let errors = Mutex<[Int32]>([])
        let threads = DispatchGroup()
        for file in files {
            threads.enter()
            Thread.detachNewThread {
                let block = [UInt8](repeating: 7, count: 4096)
                for _ in 1...5 where write(file, block, block.count) != block.count {
                    let code = errno
                    errors.withLock { $0.append(code) }
                }
                threads.leave()
            }
        }
        threads.wait()
        return errors.withLock(\.self)
    }

    @Test("What is written while a removed file is given up finds its room")
    func duringRemoval() throws {
        try withFileSystem(.ext4, megabytes: 100) { base in
            try withContainer(named: "during", on: base, seconds: 300) { container in
                guard container.isVersioned else { return [] }
                var problems: [String] = []
                for round in 1...12 {
                    let errors = try appendAfterRemoval(container, on: base)
                    if !errors.isEmpty { problems.append("round \(round): errors \(errors)") }
                }
                return problems + (try container.checkAtRest())
            }
        }
    }

    @Test("Where even the record of a deletion has no room it goes for good, but not with a pinned version")
    func noRoomForARecord() throws {
        try withFileSystem(.ext4, megabytes: 100) { base in
            let beneath = try Workplace.fresh("beneath")
            try mustRun("mount", ["--bind", base, beneath])
            defer {
                umount2(beneath, VFS_MNT_DETACH)
                rmdir(beneath)
            }
            try withContainer(named: "record", on: base, seconds: 300) { container in
                guard container.isVersioned else { return [] }
                for number in 1...2 { try save(number, container.file("pinned")) }
                try save(3, container.file("f"))
                try save(4, container.file("kept"))
                try shell("mkdir d; ln -s f s; mkfifo p", in: container.path)
                if let version = try container.history(of: "kept").versions.first {
                    try container.must("pin", container.file("kept"), "--version", version.id)
                }
                if let version = try container.history(of: "pinned").versions.last {
                    try container.must("pin", container.file("pinned"), "--version", version.id)
                }
                // Somebody takes the ballast's room away, and all the rest.
                let state = beneath + container.path.dropFirst(base.utf8.count) + "/.versionsfs"
                truncate(state + "/ballast", 0)
                try fillWithLiveFile(beneath + "/filler")
                var problems: [String] = []
                let refused = try run("rm", ["pinned"], in: container.path)
                if refused.status == 0 || !refused.errors.contains("No space left") {
                    problems.append("rm pinned: \(refused.errors)")
                }
                let emptied = try run("bash", ["-c", ": > kept"], in: container.path)
                if emptied.status == 0 || !emptied.errors.contains("No space left") {
                    problems.append(": > kept: \(emptied.errors)")
                }
                let kept = FileManager.default.contents(atPath: container.file("kept"))
                if kept != Data(repeating: 4, count: Self.megabyte) { problems.append("kept is not what it was") }
                for command in ["rm s", "rm p", "rmdir d", "rm f"] {
                    let output = try run("bash", ["-c", command], in: container.path)
                    if output.status != 0 { problems.append("\(command): \(output.errors)") }
                }
                // By now there is room.
                try shell("echo again > again", in: container.path)
                let left = try container.names()
                if left != ["again", "kept", "pinned"] { problems.append("left: \(left)") }
                if !(try status(container)).contains(Told.nearlyFull) { problems.append("status does not say so") }
                return problems + (try container.checkAtRest())
            }
        }
    }

    @Test("On a full file system a creation whose directory has to grow makes room first")
    func creation() throws {
        try withFileSystem(.ext4, megabytes: 100) { base in
            let settings = ["history.share": "100%"]
            try withContainer(named: "creation", on: base, settings: settings, seconds: 300) { container in
                guard container.isVersioned else { return [] }
                for number in 1...20 { try save(number, container.file("a")) }
                // As many of these names as one block of a directory holds.
                let name = String(repeating: "n", count: 197)
                let make = "for i in $(seq $0 $1); do : > d/\(name)$i || exit 1; done"
                try shell("mkdir d", in: container.path)
                try mustRun("bash", ["-c", make, "101", "119"], in: container.path)
                try fill(base + "/filler")
                var problems: [String] = []
                for command in [[make, "120", "160"], ["mkdir d/e && echo new > d/e/new"]] {
                    let output = try run("bash", ["-c"] + command, in: container.path)
                    if output.status != 0 { problems.append("\(command): \(output.errors)") }
                }
                let names = try container.names(in: "d")
                if names.count != 61 { problems.append("\(names.count) names in d") }
                if container.text(of: "d/e/new") != "new\n" { problems.append("d/e/new is not there") }
                let left = try container.history(of: "a").versions.count
                if left >= 20 { problems.append("nothing was given up") }
                return problems + (try container.checkAtRest())
            }
        }
    }

    /// What statfs(2) says may still be written, in MiB.
    private func available(_ path: String) throws -> Double {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { throw Failure.call("statvfs \(path)") }
        return Double(UInt64(system.f_bavail) * UInt64(system.f_frsize)) / Double(Self.megabyte)
    }

    @Test("statfs counts as free what may be given up, above the reserve, and not what is pinned or in conflict")
    func statistics() throws {
        try withFileSystem(.ext4, megabytes: 320) { base in
            try withContainer(named: "statfs", on: base, settings: ["history.share": "100%", "deleted.share": "100%"]) {
                container in
                guard container.isVersioned else { return [] }
                for number in 1...20 { try save(number, container.file("a")) }
                // What is saved while another has the file open is copied at once: it is kept twice, and may not go.
                let other = open(container.file("a"), O_WRONLY | O_CLOEXEC)
                try save(21, container.file("a"))
                close(other)
                for number in 1...5 { try save(number, container.file("gone\(number)")) }
                try shell("rm gone*", in: container.path)
                var problems: [String] = []
                func expect(_ megabytes: Double, _ what: String) throws {
                    sync()
                    let (here, below) = (try available(container.path), try available(base))
                    if abs(here - below - megabytes) > 0.5 {
                        problems.append("\(what): \(here) MiB for \(below) MiB, not \(megabytes) more")
                    }
                }
                try expect(25, "20 MiB of history and 5 deleted")
                for version in try container.history(of: "a").versions.filter({ $0.kind == "history" }).prefix(4) {
                    try container.must("pin", container.file("a"), "--version", version.id)
                }
                try expect(21, "4 of them pinned")
                // Ten MiB of the reserve are missing: so much of it is not free.
                var system = statvfs()
                statvfs(base, &system)
                let reserve = Double(UInt64(system.f_blocks) * UInt64(system.f_frsize)) / Double(Self.megabyte) / 10
                var filler = try available(base) - reserve + 10
                let descriptor = open(base + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
                defer { close(descriptor) }
                while filler > 0.25 {
                    guard posix_fallocate(descriptor, lseek(descriptor, 0, SEEK_END), 262_144) == 0 else { break }
                    lseek(descriptor, 0, SEEK_END)
                    filler = try available(base) - reserve + 10
                }
                try expect(11, "10 MiB below the reserve")
                return problems
            }
        }
    }

    @Test("With a bound in bytes, what may be purged never exceeds it by more than a version while saves happen")
    func bound() throws {
        let bound = 100 * Self.megabyte
        try withContainer(named: "bound", settings: ["history.share": "100MiB"]) { container in
            guard container.isVersioned else { return [] }
            let socket = try ControlSocket(of: container)
            var (beyond, last) = ([String](), 0)
            for number in 1...300 {
                try save(number, container.file("a"))
                let record: HistoryRecord = try socket.call("history", target: "a")
                last = record.versions.filter { $0.kind == "history" }.reduce(0) { $0 + Int($1.size) }
                if last > bound + Self.megabyte { beyond.append("\(last) after save \(number)") }
            }
            var problems: [String] = []
            if !beyond.isEmpty { problems.append("bytes of history: \(beyond.joined(separator: ", "))") }
            // It makes a little room at a time.
            if last < bound - bound / 10 { problems.append("in the end only \(last) bytes of history") }
            return problems
        }
    }
}
