// What begins to write copies to the disk: everything that it was given is begun, however much comes at once.

import CLinux
import Dispatch
import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing

@testable import VersionStore

@Suite(.timeLimit(.minutes(1))) struct ArrivalsTests {
    /// What was begun to be written, in order, by the size of the file.
    private final class Begun: Sendable {
        let sizes = Mutex<[off_t]>([])
        /// How many were begun by the thread that runs the test.
        let byTester = Atomic<Int>(0)
        private let tester = UInt(pthread_self())

        /// - Parameter slow: another thread waits for this at the first file.
        func note(_ file: Int32, until slow: DispatchSemaphore? = nil) {
            var status = stat()
            fstat(file, &status)
            if UInt(pthread_self()) == tester {
                byTester.add(1, ordering: .relaxed)
            } else if status.st_size == 1 {
                slow?.wait()
            }
            sizes.withLock { $0.append(status.st_size) }
        }
    }

    /// A file of so many bytes, without a name.
    private func file(_ size: Int) throws -> FileDescriptor {
        let file = FileDescriptor(rawValue: open("/var/tmp", O_RDWR | linux_O_TMPFILE, 0o600))
        try #require(file.rawValue >= 0 && ftruncate(file.rawValue, off_t(size)) == 0)
        return file
    }

    private func hasten(_ count: Int, _ arrivals: Arrivals) throws {
        for number in 1...count {
            let file = try file(number)
            arrivals.hasten(file, number: UInt64(number))
            try file.close()
        }
    }

    @Test("Of more files than wait at a time the oldest are begun early, and none is passed over")
    func tooMany() throws {
        let begun = Begun()
        let arrivals = Arrivals { begun.note($0) }
        try hasten(400, arrivals)
        arrivals.end()
        #expect(begun.sizes.withLock { $0 } == Array(1...400))
    }

    @Test("Where the thread is not fast enough, who brings more begins the oldest")
    func tooSlow() throws {
        let begun = Begun()
        let slow = DispatchSemaphore(value: 0)
        let arrivals = Arrivals { begun.note($0, until: slow) }
        try hasten(1200, arrivals)
        #expect(begun.byTester.load(ordering: .relaxed) > 0)
        slow.signal()
        arrivals.end()
        #expect(begun.sizes.withLock { $0.sorted() } == Array(1...1200))
    }

    @Test("A file that was removed is not held open, and the others are")
    func removed() throws {
        var template = Array("/var/tmp/versionsfs-arrivals.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { rmdir(directory) }
        let begun = Begun()
        let arrivals = Arrivals { begun.note($0) }
        for name in ["kept", "gone", "late"] {
            let file = FileDescriptor(rawValue: open("\(directory)/\(name)", O_RDWR | O_CREAT, 0o600))
            try #require(file.rawValue >= 0)
            if name == "late" { arrivals.hasten(file, number: 1) } else { arrivals.began(file) }
            try file.close()
            if name != "kept" { unlink("\(directory)/\(name)") }
        }
        // The thread has what it begins to write open as well, for a moment.
        let end = ContinuousClock.now + .seconds(20)
        repeat { arrivals.closeRemoved() } while opened(below: directory) != ["kept"] && ContinuousClock.now < end
        #expect(opened(below: directory) == ["kept"])
        arrivals.end()
        #expect(opened(below: directory) == [])
        unlink("\(directory)/kept")
    }

    /// The names of the files in a directory that this process has open.
    private func opened(below directory: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let paths = files.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        return Set(paths.filter { $0.hasPrefix(directory + "/") }.map { String($0.dropFirst(directory.count + 1)) })
            .sorted()
    }

    @Test("A second caller that synchronizes waits for the copies that a first one waits for")
    func second() throws {
        let (waiting, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let hasArrived = Atomic<Bool>(false)
        let early = Atomic<Int>(0)
        let arrivals = Arrivals { _ in
        } awaitWriting: { _ in
            waiting.signal()
            goOn.wait()
            hasArrived.store(true, ordering: .sequentiallyConsistent)
        }
        let file = try file(1)
        arrivals.began(file)
        try file.close()
        let callers = DispatchGroup()
        @Sendable func synchronize() {
            try? arrivals.synchronizing { () throws(Errno) in
                if !hasArrived.load(ordering: .sequentiallyConsistent) { early.add(1, ordering: .relaxed) }
            }
        }
        DispatchQueue.global().async(group: callers) { synchronize() }
        waiting.wait()
        let begun = DispatchSemaphore(value: 0)
        DispatchQueue.global().async(group: callers) {
            begun.signal()
            synchronize()
        }
        begun.wait()
        // The second has until then to come too early; a caller that waits does so for as long as it takes.
        #expect(callers.wait(timeout: .now() + 0.2) == .timedOut)
        goOn.signal()
        callers.wait()
        arrivals.end()
        #expect(early.load(ordering: .relaxed) == 0)
    }
}
