// One container under load, killed again and again.

import CrashLoad
import Foundation
import Support

/// A worker with its journal.
final class RunningWorker {
    let child: Child
    private let journal: String
    private var input: Int32

    init(in container: String, directory: String, journal: String, first: UInt64, seed: UInt64, as kind: String) throws
    {
        self.journal = journal
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure.call("pipe") }
        let output = open(journal, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard output >= 0 else { throw Failure.call(journal) }
        defer {
            close(ends[0])
            close(output)
        }
        var start = Child.Start(
            Workplace.products + "/CrashWorker", [container, directory, "\(first)", "\(seed)", kind])
        start.directory = "/"
        start.descriptors = [ends[0], output, output]
        input = ends[1]
        _ = fcntl(input, F_SETFD, FD_CLOEXEC)
        child = try Child(start)
    }

    /// Tells it to end, and waits until it has.
    func end() throws {
        if input >= 0 { close(input) }
        input = -1
        try child.wait(.after(seconds: 60))
    }

    var lines: [Substring] {
        ((try? String(contentsOfFile: journal, encoding: .utf8)) ?? "").split(separator: "\n")
    }

    var entries: [Entry] { lines.compactMap { Entry($0) } }

    /// Waits until its journal has a finished entry.
    func awaitDone(_ deadline: Deadline) -> Bool {
        while !entries.contains(where: { $0.stage == .done }) {
            if deadline.isOver || !child.isRunning { return false }
            // The journal is a file, which has no event for this.
            _ = Deadline.after(seconds: 0.02).poll([])
        }
        return true
    }
}

struct CrashLoadRun {
    private let container: TestContainer
    private var dice: Dice
    private var ledger = Ledger()
    private var next: UInt64 = 1

    init(_ container: TestContainer, _ seed: UInt64) throws {
        self.container = container
        dice = Dice(seed: seed)
        for worker in 0..<3 {
            try mustRun("mkdir", ["-p", container.file("w\(worker)/sub")])
        }
        try mustRun("mkdir", [container.file("s")])
    }

    private var journals: String { (container.path as NSString).deletingLastPathComponent }

    /// Loads, kills, mounts, unmounts and looks; the container is mounted before and afterwards.
    mutating func crash(withSurvivor: Bool, _ totals: inout Totals) throws -> [String] {
        let survivor = withSurvivor ? try start("s", 9, as: "survive") : nil
        if let survivor, !survivor.awaitDone(.after(seconds: 20)) {
            throw Failure("the survivor did not begin", evidence: survivor.lines.joined(separator: "\n"))
        }
        let workers = try (0..<3).map { try start("w\($0)", $0) }
        _ = Deadline.after(seconds: Double.random(in: 0.05...0.6, using: &dice)).poll([])
        try container.kill()
        totals.crashes += 1
        for worker in workers {
            try worker.end()
            for entry in worker.entries { ledger.add(entry) }
        }
        try container.mount()
        var problems: [String] = []
        if let survivor { problems += try finish(survivor, &totals) }
        try container.unmount()
        problems += try ledger.verify(container.path, after: .kill, totals: &totals)
        guard problems.isEmpty else {
            let tails = workers.flatMap { ["the last words of a worker:"] + $0.lines.suffix(4).map(String.init) }
            // Who cuts a long output leaves its front or its end.
            return problems + story(of: problems) + tails + ["found, as said above:"] + problems
        }
        try container.mount()
        return []
    }

    /// What was done last to the files that problems name, in this round and those before.
    private func story(of problems: [String]) -> [String] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: journals)) ?? []).filter {
            $0.hasPrefix("journal-")
        }
        let entries = names.flatMap { name -> [Entry] in
            let text = (try? String(contentsOfFile: "\(journals)/\(name)", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").compactMap { Entry($0) }
        }
        .sorted { $0.time < $1.time }
        return files(in: problems).sorted().flatMap { file -> [String] in
            let lines = entries.filter { $0.concerns(file) || $0.isBefore(file, in: entries) }
            return ["what was done to \(file):"] + lines.suffix(12).map { String($0.line.dropLast()) }
        }
    }

    /// The files that problems name, relative to the container.
    private func files(in problems: [String]) -> Set<String> {
        let words = problems.joined(separator: " ").split { " (),;".contains($0) }.map { word in
            word.hasPrefix(container.path + "/") ? String(word.dropFirst(container.path.count + 1)) : String(word)
        }
        return Set(words.filter { $0.first == "w" && $0.contains("/") })
    }

    private mutating func start(_ directory: String, _ index: Int, as kind: String = "3") throws -> RunningWorker {
        defer { next += 1_000_000 }
        return try RunningWorker(
            in: container.path, directory: directory, journal: "\(journals)/journal-\(index)-\(next)", first: next,
            seed: dice.next(), as: kind)
    }

    /// The mount shows at once what a survivor writes beneath it, and it becomes a version once the survivor ends.
    private mutating func finish(_ survivor: RunningWorker, _ totals: inout Totals) throws -> [String] {
        let file = container.file("s/survivor.txt")
        _ = Inspection.read(file)
        try survivor.end()
        totals.survivors += 1
        let entries = survivor.entries
        guard let last = entries.last, last.stage == .done, entries.count == 4 else {
            return ["the survivor could not go on: \(survivor.lines)"]
        }
        let found = Inspection.read(file)
        for entry in entries.suffix(2) { ledger.add(entry) }
        if found != last.content.bytes {
            return ["the mount shows \(Ledger.head(found ?? [])) of what a survivor has written: \(last.content)"]
        }
        return []
    }
}

extension Entry {
    /// Whether it changes a file, or moves its directory.
    fileprivate func concerns(_ name: String) -> Bool {
        if action != .moveDirectory { return file == name || target == name }
        return name.hasPrefix(file + "/") || name.hasPrefix(target + "/")
    }

    /// Whether it changes what came to a name later, with its directory.
    fileprivate func isBefore(_ name: String, in entries: [Entry]) -> Bool {
        entries.contains { move in
            move.action == .moveDirectory && move.time >= time && name.hasPrefix(move.target + "/")
                && concerns(move.file + name.dropFirst(move.target.count))
        }
    }
}
