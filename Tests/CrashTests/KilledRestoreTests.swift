// A file with several names that is restored, with a kill at each call that changes something.

import CTestSupport
import CrashLoad
import FaultShim
import Foundation
import Glibc
import Support
import Testing

extension Crashes {
    @Suite struct KilledRestoreTests {
        /// More calls than a restore makes.
        private static let mostCalls = 60

        @Test("A file with several names holds one version or the other after a kill at any call of its restoring")
        func kills() throws {
            // The process that is killed is one of this program, too.
            if let task = KilledRestore.task { return try task.work() }
            for isBehind in [false, true] {
                var isOver = false
                for call in 1...Self.mostCalls where !isOver {
                    isOver = try KilledRestore.check(call: call, isBehind: isBehind)
                    #expect(!isOver || call > 5, "over before call \(call)")
                }
                #expect(isOver, "a restore makes more calls than are tried")
            }
        }

        @Test(
            "What is edited between the kill and the next mount stays, whatever the kill has left",
            arguments: KilledRestore.Edit.allCases)
        func edits(edit: KilledRestore.Edit) throws {
            var (isOver, edited) = (false, 0)
            for call in 1...Self.mostCalls where !isOver {
                isOver = try KilledRestore.check(call: call, isBehind: false, edit: edit) { edited += 1 }
            }
            #expect(isOver && edited > 0, "\(edited) edits")
        }
    }
}

/// One restore in a process that is killed.
struct KilledRestore {
    private static let variable = "VERSIONSFS_KILLED_RESTORE"
    private static let older = Content([.init(number: 1, length: 9_000)])
    private static let newer = Content([.init(number: 2, length: 7_000)])

    /// What another program does to the file, beneath the mount that is gone.
    enum Edit: String, CaseIterable {
        case append, replace, patch

        var command: String {
            switch self {
            case .append: "echo edited >> a"
            case .replace: "echo edited > a"
            case .patch: "printf edited | dd of=a bs=1 seek=5000 conv=notrunc status=none"
            }
        }
    }

    var path: String
    var call: Int
    var isBehind: Bool

    /// The restore that this process was started for, if it is such a process.
    static var task: KilledRestore? {
        let words = (ProcessInfo.processInfo.environment[variable] ?? "").split(separator: " ")
        guard words.count == 3, let call = Int(words[1]) else { return nil }
        return KilledRestore(path: String(words[0]), call: call, isBehind: words[2] == "1")
    }

    func work() throws {
        let container = try SimulatedContainer(path, Dice(seed: 1))
        let restore = try container.restoring("a", to: Self.older)
        fault_shim_arm(call, isBehind ? 1 : 0)
        try restore?()
        fault_shim_arm(0, 0)
        _ = "over".withCString { write(3, $0, 4) }
        kill(getpid(), SIGKILL)
    }

    /// - Returns: whether the restore was over before the kill.
    static func check(
        call: Int, isBehind: Bool, edit: Edit? = nil, edited: () -> Void = {}
    ) throws -> Bool {
        let directory = try Workplace.fresh("killed-restore")
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/tree"
        try mustRun("mkdir", [path])
        let before = try SimulatedContainer(path, Dice(seed: 1))
        for content in [older, newer] {
            let file = try before.open("a", O_WRONLY | O_CREAT | O_TRUNC)
            try before.write(content.bytes[...], file, at: 0)
            try before.close(file)
        }
        before.end()
        guard link(path + "/a", path + "/b") == 0 else { throw Failure.call("link") }
        let isOver = try restore(KilledRestore(path: path, call: call, isBehind: isBehind), directory)
        var expected: [[UInt8]]?
        let attribute = "user.versionsfs.overwriting"
        if let edit, getxattr(path + "/a", attribute, nil, 0) > 0 {
            try shell(edit.command, in: path)
            expected = [FileManager.default.contents(atPath: path + "/a").map { Array($0) } ?? []]
            edited()
        }
        let after = try SimulatedContainer(path, Dice(seed: 1))
        // Both contents are there, whichever is current.
        let lost = try [older, newer].filter { content in
            let live = FileManager.default.contents(atPath: path + "/a").map { Array($0) }
            return try live != content.bytes && after.restoring("a", to: content) == nil
        }
        let problems = after.problems()
        after.end()
        let files = ["/a", "/b"].map { FileManager.default.contents(atPath: path + $0).map { Array($0) } ?? [] }
        let name = "killed \(isBehind ? "behind" : "before") call \(call)"
        #expect(files[0] == files[1], "\(name): the names have parted")
        let whole = expected ?? (isOver ? [older.bytes] : [older.bytes, newer.bytes])
        #expect(whole.contains(files[0]), "\(name): \(files[0].count) bytes")
        #expect(lost.isEmpty, "\(name): contents are gone")
        #expect(problems.isEmpty, "\(name): \(problems)")
        return isOver
    }

    private static func restore(_ task: KilledRestore, _ directory: String) throws -> Bool {
        let (journal, log) = (directory + "/journal", directory + "/log")
        let files: [Int32] = [journal, log].map { (name: String) in
            open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        }
        guard files.allSatisfy({ $0 >= 0 }) else { throw Failure.call(journal) }
        defer { for file in files { Glibc.close(file) } }
        var start = Child.Start(
            "/proc/self/exe",
            ["--testing-library", "swift-testing", "--filter", "^CrashTests\\.Crashes/KilledRestoreTests/kills"])
        // The shim is linked into this program, whose calls a preloaded one would not see.
        start.environment = [variable: "\(task.path) \(task.call) \(task.isBehind ? 1 : 0)"]
        start.descriptors = [files[1], files[1], files[1], files[0]]
        let status = try Child(start).wait(.after(seconds: 60))
        guard status == 128 + SIGKILL else {
            throw Failure(
                "a process ended by itself, with \(status)",
                evidence: (try? String(contentsOfFile: log, encoding: .utf8)) ?? "")
        }
        return try String(contentsOfFile: journal, encoding: .utf8) == "over"
    }
}
