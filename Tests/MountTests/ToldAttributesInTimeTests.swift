// Changed attributes are there for the listener that hears of them, though the kernel has no answer to the change yet.

import CTestSupport
import Foundation
import Glibc
import Support
import Testing

@Suite("Attributes that presenters hear of have changed for them, too", .serialized) struct ToldAttributesInTimeTests {
    /// A change, and the length of the answer that the kernel waits for.
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The paths are relative to the container.
        var answer = 120
        var call: @Sendable (_ directory: String) -> Int32
        var told: String
        /// What is wrong for a program that looks at once.
        var look: @Sendable (_ directory: String) -> [String]
    }

    static let cases = [
        Case(
            testDescription: "a change of the mode",
            call: { chmod($0 + "/a", 0o600) }, told: "attributes d/a inDirectory at d",
            look: { status($0 + "/a").map { $0.st_mode & 0o777 == 0o600 } == true ? [] : ["a has its old mode"] }),
        Case(
            testDescription: "another length",
            call: { truncate($0 + "/b", 1) }, told: "saved d/b inDirectory at d", look: { there($0 + "/b", "2") }),
    ]

    @Test("The listener finds them at once", arguments: cases) func isThere(_ change: Case) throws {
        let place = try Workplace.fresh("late", in: Workplace.root)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let environment = [
            "LD_PRELOAD": Workplace.products + "/libFaultShim.so", "VERSIONSFS_FAULT": "late-reply",
            "VERSIONSFS_LATE_REPLY": place + "/reply",
        ]
        // The shim knows answers that a thread writes itself.
        let options = Workplace.usesRing ? ["no-ring"] : []
        let files = ["d/a": "1", "d/b": "22", "d/e/c": "333"]
        try withContainer(options: options, files: files, environment: environment) { container in
            let client = try PresentingClient(of: container)
            defer { client.close() }
            try client.present("d")
            let directory = container.file("d")
            // The kernel knows the former attributes.
            _ = change.look(directory)
            let answer = try LateAnswer(place + "/reply", length: change.answer)
            let hasReturned = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                if change.call(directory) != 0 { perror("the change") }
                hasReturned.signal()
            }
            defer {
                answer.release()
                hasReturned.wait()
            }
            try answer.awaitHeld()
            // It is recorded by now, and may be told before the program has its answer, or after that.
            if (try? client.wait(seconds: 1, for: "d: \(change.told)")) == nil {
                answer.release()
                try client.wait(for: "d: \(change.told)")
            }
            return change.look(directory)
        }
    }

    private static func status(_ path: String) -> stat? {
        var found = stat()
        return stat(path, &found) == 0 ? found : nil
    }

    private static func there(_ path: String, _ text: String) -> [String] {
        let name = path.split(separator: "/").last ?? ""
        guard let file = fopen(path, "r") else { return ["\(name) cannot be opened: \(errno)"] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = fread(&bytes, 1, 64, file)
        let found = String(decoding: bytes.prefix(count), as: UTF8.self)
        let size = status(path)?.st_size ?? -1
        return found == text && Int(size) == text.utf8.count ? [] : ["\(name) has \(found), a size of \(size)"]
    }
}

/// The next answer of a length, on its way to the kernel as long as this has a lock.
private final class LateAnswer: Sendable {
    private let place: String
    private let file: Int32

    init(_ place: String, length: Int) throws {
        self.place = place
        // Locked before the shim finds it.
        file = open(place + ".new", O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0, vfs_flock(file, LOCK_EX) == 0, rename(place + ".new", "\(place).\(length)") == 0 else {
            throw Failure.call(place)
        }
    }

    deinit { close(file) }

    func awaitHeld() throws {
        let deadline = Deadline.after(seconds: 30)
        while access(place + ".held", F_OK) != 0 {
            guard !deadline.isOver else { throw Failure("no such answer came") }
            _ = Deadline.after(seconds: 0.01).poll([])
        }
    }

    func release() { _ = vfs_flock(file, LOCK_UN) }
}
