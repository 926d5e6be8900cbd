// Cuts the power at random moments of a load, mounts what the disk would hold, and looks whether what was synchronized
// is there and everything else is one thing or the other.

import CLinux
import CrashLoad
import Foundation
import Support
import Testing

extension Crashes {
    @Suite struct PowerTests {
        /// How many cuts are made of one recording.
        private static let cutsOfOne = 10

        @Test(
            "What was synchronized is there after a power cut",
            .enabled(if: getuid() == 0, "only root may mount images"))
        func cutOnExt4() throws { try cut(Workplace.count(100), .ext4, seed: KillTests.seed &+ 2) }

        @Test("The same on a file system with reflinks", .enabled(if: getuid() == 0, "only root may mount images"))
        func cutOnXFS() throws { try cut(Workplace.count(100), .xfs, seed: KillTests.seed &+ 3) }

        @Test(
            "The same on one where fsync is for one file alone",
            .enabled(if: getuid() == 0, "only root may mount images"))
        func cutOnBtrfs() throws { try cut(Workplace.count(100), .btrfs, seed: KillTests.seed &+ 4) }

        @Test(
            "A daemon that synchronizes nothing is found out", .enabled(if: getuid() == 0, "only root may mount images")
        )
        func plantedBug() throws {
            let failure = withFault("lost-sync") {
                #expect(throws: Failure.self) { try cut(10, .ext4, seed: 1) }
            }
            let text = failure.map { "\($0)" } ?? ""
            #expect(["not among the versions", "; it had"].contains { text.contains($0) }, "\(text)")
        }

        private func cut(_ count: Int, _ type: FileSystemType, seed: UInt64) throws {
            print("power cuts: \(count) on \(type), seed \(seed)")
            var dice = Dice(seed: seed)
            var totals = Totals()
            while totals.crashes < count {
                let cuts = min(Self.cutsOfOne, count - totals.crashes)
                try record(type, cuts, Dice(seed: dice.next()), "seed \(seed)", &totals)
            }
            print(
                "power cuts: \(totals.crashes) on \(type), \(totals.contents) synchronized contents found again, "
                    + "\(totals.unfinished) unfinished versions seen, seed \(seed)")
        }

        /// One load, and some cuts anywhere in it.
        private func record(_ type: FileSystemType, _ cuts: Int, _ dice: Dice, _ name: String, _ totals: inout Totals)
            throws
        {
            var dice = dice
            // Big enough that a tenth of it holds the history: nothing may be given up for space.
            let disk = try RecordedDisk(type, megabytes: 8192)
            var isWhole = false
            defer { if isWhole || ProcessInfo.processInfo.environment["VERSIONSFS_KEEP"] != "1" { disk.remove() } }
            let load = try RecordedLoad(disk, &dice)
            try disk.detach()
            var replay = try disk.replay()
            guard let first = replay.records.firstIndex(where: { $0.time >= load.began }) else {
                throw Failure("nothing was written")
            }
            let ends = (0..<cuts).map { _ in Int.random(in: first...replay.records.count, using: &dice) }.sorted()
            for end in ends {
                let arrival = RecordedDisk.Arrival.allCases.randomElement(using: &dice) ?? .everything
                let time = end < replay.records.count ? replay.records[end].time : UInt64.max
                totals.crashes += 1
                let (problems, log) = try disk.cut(&replay, behind: end, arrival, &dice) { point in
                    try load.look(point, at: time, &totals)
                }
                guard problems.isEmpty else {
                    let what =
                        "\(name), cut \(totals.crashes) (behind record \(end) of \(replay.records.count), \(arrival))"
                    throw Failure(problems.map { "\(what): \($0)" }.joined(separator: "\n"), evidence: log)
                }
            }
            isWhole = true
        }
    }
}

/// What workers have done on a recorded disk.
struct RecordedLoad {
    /// When the container was there and everything in it durable.
    let began: UInt64
    private let entries: [Entry]
    private let container: String
    private let workers = 3

    /// Runs the load.
    init(_ disk: RecordedDisk, _ dice: inout Dice) throws {
        let journals = try Workplace.fresh("journals")
        defer { try? FileManager.default.removeItem(atPath: journals) }
        let place = disk.path + "/container"
        container = "container"
        for worker in 0..<workers { try mustRun("mkdir", ["-p", "\(place)/w\(worker)/sub"]) }
        let mounted = TestContainer(existing: place)
        defer { mounted.abandon() }
        try mounted.mount()
        try mustRun("sync", ["-f", disk.beneath])
        began = Entry.now
        let oneOf = [2, 4, 30].randomElement(using: &dice) ?? 4
        let running = try (0..<workers).map { index in
            try RunningWorker(
                in: place, directory: "w\(index)", journal: "\(journals)/\(index)",
                first: UInt64(index + 1) * 1_000_000,
                seed: dice.next(), as: "\(oneOf)")
        }
        Self.writeBack(disk.beneath + "/container", seconds: Double.random(in: 0.5...2.5, using: &dice), &dice)
        for worker in running { try worker.end() }
        entries = running.flatMap(\.entries).sorted { $0.time < $1.time }
        try mounted.unmount()
    }

    /// As memory pressure does: sends pages of any files to the disk, in no order and without a flush.
    private static func writeBack(_ path: String, seconds: Double, _ dice: inout Dice) {
        let end = Deadline.after(seconds: seconds)
        while !end.isOver {
            let files = (FileManager.default.subpaths(atPath: path) ?? [])
            for file in files where Int.random(in: 0..<8, using: &dice) == 0 {
                let descriptor = open("\(path)/\(file)", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
                guard descriptor >= 0 else { continue }
                _ = linux_start_writing(descriptor)
                close(descriptor)
            }
            _ = Deadline.after(seconds: 0.02).poll([])
        }
    }

    /// Mounts the container of a disk after a cut at that time, and says what is wrong with it; with the daemon's log.
    func look(_ point: String, at time: UInt64, _ totals: inout Totals) throws -> ([String], String) {
        var ledger = Ledger()
        for entry in entries.prefix(while: { $0.time < time }) { ledger.add(entry) }
        let mounted = TestContainer(existing: "\(point)/\(container)")
        defer { mounted.abandon() }
        try mounted.startMachineAnew()
        try mounted.mount()
        var problems = try mounted.checkFindings().map { "check: \($0)" }
        try mounted.unmount()
        problems += try ledger.verify(mounted.path, after: .powerCut, totals: &totals)
        guard !problems.isEmpty else { return ([], mounted.log) }
        return (problems, mounted.log + "\n" + story(of: problems, before: time))
    }

    /// What the workers had done last in whose directories there are problems.
    private func story(of problems: [String], before time: UInt64) -> String {
        let directories = (0..<workers).map { "w\($0)/" }.filter { name in problems.contains { $0.contains(name) } }
        let done = entries.prefix { $0.time < time }.filter { entry in
            directories.contains { entry.file.hasPrefix($0) }
        }
        return "what was done there:\n" + done.suffix(200).map(\.line).joined()
    }
}

extension TestContainer {
    /// The marks of the mount before are of another boot, as after any power cut: what they begin with does not count.
    func startMachineAnew() throws {
        let marks = file(".versionsfs/marks")
        guard FileManager.default.fileExists(atPath: marks) else { return }
        let opened = try FileHandle(forUpdating: URL(fileURLWithPath: marks))
        defer { try? opened.close() }
        try opened.write(contentsOf: Data(repeating: 0, count: 8))
    }
}
