// A tree of 200,000 files (a tenth without --full): walked, archived and removed within the descriptors and the memory
// that a daemon may have; and nothing is done when nothing is asked.

import Foundation
import Support
import Testing

@Suite(.serialized) struct ManyFilesTests {
    static let files = Workplace.count(200_000)
    private static let perDirectory = 500
    /// What the daemon may take with 200,000 files looked up.
    private static let memory = 150 << 20
    /// What observations may take besides, once all of them have been read (DESIGN 5.2).
    private static let observations = 64 << 20
    /// What may be in one file's share of it, beside what the daemon takes with none.
    private static let perFile = 600

    @Test("A big tree can be walked, archived and removed with few descriptors and little memory")
    func aBigTree() throws {
        let base = try Workplace.fresh("big")
        try makeTree(in: base)
        defer { _ = try? run("rm", ["-rf", base], seconds: 300) }
        try withContainer(named: "manyfiles", seconds: 900) { container in
            // Made beneath the mount, as a tree that is adopted: that is cheap, and nobody has touched it.
            try container.unmount()
            try mustRun("mv", [base + "/tree", container.path + "/tree"])
            // The first mount, and a later one that knows of it, are usable however much is there (DESIGN 3.1).
            let usable: [Duration] = try (0..<2).map { number in
                if number > 0 { try container.unmount() }
                return try ContinuousClock().measure {
                    try container.mount()
                    _ = try container.names(in: "tree")
                }
            }
            guard let daemon = container.daemon?.pid else { return [] }
            let process = DaemonProcess(daemon)
            try mustRun("prlimit", ["--pid", String(daemon), "--nofile=20000:20000"])
            let before = try process.resident()
            print("usable after \(usable)")
            var problems = usable.filter { $0 > .seconds(Workplace.isFull ? 1 : 10) }.map { "usable only after \($0)" }
            func look(_ step: String, bound: Int) throws {
                let (resident, descriptors) = (try process.resident(), try process.descriptors())
                print("\(step): \(resident >> 20) MiB, \(descriptors) descriptors")
                if resident > bound { problems.append("after \(step): \(resident >> 20) MiB, over \(bound >> 20)") }
                if descriptors > 2_000 { problems.append("after \(step): \(descriptors) descriptors are open") }
            }
            let share = before + Self.perFile * Self.files + (4 << 20)
            let lines = try mustRun("find", ["tree", "-ls"], in: container.path, seconds: 600).text.split(
                separator: "\n")
            let expected = Self.files + Self.files / Self.perDirectory + 1
            if lines.count != expected { problems.append("find lists \(lines.count) names, not \(expected)") }
            try look("the walk", bound: min(Self.memory, share))
            // Through a pipe: tar reads nothing for /dev/null.
            let count = try mustRun("sh", ["-c", "tar -cf - tree | wc -c"], in: container.path, seconds: 600).text
            if (Int(count) ?? 0) < Self.files * 1024 { problems.append("the archive has \(count) bytes") }
            try look("the archive", bound: Self.memory + Self.observations)
            try mustRun("rm", ["-r", "tree"], in: container.path, seconds: 600)
            if FileManager.default.fileExists(atPath: container.file("tree")) {
                problems.append("the tree is still there")
            }
            try look("the removal", bound: 2 * Self.memory)
            if container.isVersioned {
                let deleted = try container.must("deleted", "--json").stdout.count
                if deleted < Self.files { problems.append("not all of it is in the deleted area") }
            }
            return problems
        }
    }

    @Test("Idle, the daemon does nothing") func idle() throws {
        try withContainer(named: "idle", files: ["f": "one"]) { container in
            guard let daemon = container.daemon?.pid else { return [] }
            try container.put("two", at: "f")
            _ = container.text(of: "f")
            let process = DaemonProcess(daemon)
            // What the save left to be done (sealing, committing) is over once it has run for nothing for a while.
            let patience = Deadline.after(seconds: 60)
            while try process.ran(within: 6) > 0.001 {
                if patience.isOver { return ["the daemon does not come to rest"] }
            }
            // Nothing can be awaited here: that nothing happens shows only over time.
            let ran = try process.ran(within: 5)
            print("idle for 5 s: \(Int(ran * 1e6)) us")
            return ran > 0.001 ? ["idle, it ran for \(ran) s in 5 s"] : []
        }
    }

    /// Files of a few bytes, 500 to a directory.
    private func makeTree(in base: String) throws {
        for directory in 0..<(Self.files / Self.perDirectory) {
            let path = "\(base)/tree/d\(directory)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for number in 0..<Self.perDirectory {
                guard let file = fopen("\(path)/file-\(number).txt", "we") else { throw Failure.call(path) }
                fputs("file \(number)\n", file)
                fclose(file)
            }
        }
    }
}

/// What the kernel says of a process.
struct DaemonProcess {
    private let pid: pid_t

    init(_ pid: pid_t) { self.pid = pid }

    /// Bytes in memory.
    func resident() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix("VmRSS:") {
            if let kilobytes = line.split(separator: " ").compactMap({ Int($0) }).first { return kilobytes << 10 }
        }
        throw Failure("process \(pid) has no VmRSS", evidence: status)
    }

    func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count }

    /// Seconds that all its threads ran together while so many passed.
    func ran(within seconds: Double) throws -> Double {
        let before = try runTime()
        _ = Deadline.after(seconds: seconds).poll([])
        return try runTime() - before
    }

    private func runTime() throws -> Double {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
        return threads.reduce(0) { sum, thread in
            let line = (try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/schedstat", encoding: .utf8)) ?? ""
            return sum + (line.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
        }
    }
}
