// A container under a stream of valid, random and damaged FUSE requests: it answers each once, and keeps nothing.

@testable import FUSE
@testable import versionsfs
import CLinux
import Container
import Foundation
import Logging
import Support
import Synchronization
import SystemPackage
import Testing
import VersionStore

@Suite(.serialized) struct RequestFuzzTests {
    private static let rounds = 10

    /// What one round leaves behind in this process.
    private struct Toll {
        var descriptors: Int
        var resident: Int
    }

    @Test("200,000 random and damaged requests neither crash nor leak, and each is answered once")
    func fuzz() throws {
        // Holes and preallocation must not fill the disk, and going too far must not end the process.
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        var small = limit
        small.rlim_cur = 64 << 20
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &small)
        defer { setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) }
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0 ... .max)
        let count = Workplace.count(200_000) / Self.rounds
        print("RequestFuzzTests: seed \(seed), \(Self.rounds) containers, \(count) requests each")
        var tolls: [Toll] = []
        for round in 0..<Self.rounds {
            let problems = try play(seed: seed &+ UInt64(round), count: count)
            #expect(problems.isEmpty, "seed \(seed), round \(round): \(problems.prefix(20).joined(separator: "\n"))")
            tolls.append(Toll(descriptors: Self.openDescriptors(), resident: Self.residentBytes()))
        }
        print("RequestFuzzTests: \(tolls.map { "\($0.descriptors) descriptors, \($0.resident >> 20) MiB" })")
        // The first rounds fill pools and caches.
        let (early, last) = (tolls[2], tolls[Self.rounds - 1])
        #expect(last.descriptors <= early.descriptors, "descriptors: \(tolls.map(\.descriptors))")
        #expect(last.resident < early.resident + (24 << 20), "resident bytes: \(tolls.map(\.resident))")
    }

    private func play(seed: UInt64, count: Int) throws -> [String] {
        let place = try Workplace.fresh("fuzz")
        defer {
            _ = try? run("chattr", ["-R", "-ia", place])
            _ = try? run("rm", ["-rf", place])
        }
        let directory = place + "/container"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try "before".write(toFile: directory + "/a", atomically: false, encoding: .utf8)
        try "outside".write(toFile: place + "/outside", atomically: false, encoding: .utf8)
        var logger = Logger(label: "fuzz")
        logger.logLevel = .critical
        let path = Array(directory.utf8)
        let opened = try OpenedContainer(try absolutePath(path), try Arguments([path]), logger, isReadOnly: false)
        var settings = Settings()
        settings.replaceWaitNanoseconds = 20_000_000
        opened.container.operations.settings = settings
        opened.container.start()
        let session = try FuzzSession(ContainerFileSystem(opened.container))
        var messages = FuzzMessages(seed: seed)
        var problems: [String] = []
        var late: [UInt64: UInt32] = [:]
        for _ in 0..<count {
            let message = messages.next()
            session.serve(message)
            let (opcode, unique) = Self.header(message)
            let answers = session.transport.take(unique)
            if answers.count == 1, let answer = answers.first {
                Self.learn(opcode, answer, &messages)
            } else if answers.isEmpty, opcode == 14 {
                late[unique] = opcode
            } else if answers.count != (FuzzMessages.isAnswered(opcode) ? 1 : 0), !(opcode == 36 && answers.count <= 1)
            {
                problems.append("opcode \(opcode): \(answers.count) answers to \(message.count) bytes")
            }
        }
        problems += awaitLate(late, session)
        problems += session.transport.faults
        session.end()
        opened.container.close()
        try? opened.root.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: place).sorted()
        if names != ["container", "outside"] { problems.append("beside the container: \(names)") }
        if try String(contentsOfFile: place + "/outside", encoding: .utf8) != "outside" {
            problems.append("a file outside was changed")
        }
        return problems
    }

    /// Opens that waited for other writers are answered in the end.
    private func awaitLate(_ late: [UInt64: UInt32], _ session: FuzzSession) -> [String] {
        let deadline = Date(timeIntervalSinceNow: 10)
        var waiting = Set(late.keys)
        while !waiting.isEmpty, Date() < deadline {
            waiting = waiting.filter { session.transport.take($0).isEmpty }
            // The timers' thread has no event for us.
            usleep(5000)
        }
        return waiting.isEmpty ? [] : ["\(waiting.count) opens were never answered"]
    }

    private static func header(_ message: [UInt8]) -> (opcode: UInt32, unique: UInt64) {
        message.withUnsafeBytes {
            ($0.loadUnaligned(fromByteOffset: 4, as: UInt32.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }

    private static func learn(_ opcode: UInt32, _ answer: CountingTransport.Answer, _ messages: inout FuzzMessages) {
        guard answer.error == 0 else { return }
        let number = { (offset: Int) -> UInt64? in
            answer.body.count >= offset + 8
                ? answer.body.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) } : nil
        }
        if FuzzMessages.entries.contains(opcode), let node = number(0) { messages.learn(node: node) }
        if opcode == 35 || opcode == 51, let handle = number(128) { messages.learn(handle: handle) }
        if FuzzMessages.openings.contains(opcode), let handle = number(0) { messages.learn(handle: handle) }
    }

    private static func openDescriptors() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    private static func residentBytes() -> Int {
        let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * 4096
    }
}
