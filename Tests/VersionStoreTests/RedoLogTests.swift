// The redo log: what was appended is read again, in order, up to the first record that is not whole.

import Foundation
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

struct RedoLogTests {
    /// An empty directory, open; removed afterwards.
    private func inDirectory<Result>(_ body: (FileDescriptor, String) throws -> Result) throws -> Result {
        let path = "/var/tmp/versionsfs-redo-\(ContentID.random().short)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let directory = try FileDescriptor.open(FilePath(path), .readOnly, options: .directory)
        defer { try? directory.close() }
        return try body(directory, path)
    }

    private func call(_ number: Int) -> [VersionStore.Mutation] {
        [.version(Records.version(wall: Int64(number))), .change(Records.change(.saved, "file \(number)"))]
    }

    private func times(_ calls: [[VersionStore.Mutation]]) -> [Int64] {
        calls.compactMap { call in
            if case .version(let version)? = call.first { version.time.wall.nanoseconds - 2_000 } else { nil }
        }
    }

    @Test(
        "What was appended is read while the log is open, as after a kill, and only what is behind the number asked for"
    )
    func appendedIsRead() throws {
        try inDirectory { directory, _ in
            let log = try RedoLog(in: directory)
            // Over several windows of allocated room.
            for number in 1...3000 { try log.append(RedoLog.encode(call(number)), number: UInt64(number)) }
            #expect(log.length > 1 << 19)
            #expect(times(RedoLog.calls(in: directory, after: 0).calls) == (1...3000).map { Int64($0) })
            #expect(times(RedoLog.calls(in: directory, after: 2990).calls) == (2991...3000).map { Int64($0) })
        }
    }

    @Test("Reading ends before the first record that is not whole, wherever it was cut off or damaged")
    func damageEndsTheLog() throws {
        try inDirectory { directory, path in
            var ends: [Int] = [0]
            do {
                let log = try RedoLog(in: directory)
                for number in 1...20 {
                    try log.append(RedoLog.encode(call(number)), number: UInt64(number))
                    ends.append(log.length)
                }
            }
            let whole = try Data(contentsOf: URL(fileURLWithPath: path + "/redo"))
            // An orderly end leaves no room behind the last record.
            #expect(whole.count == ends[20])
            var generator = SystemRandomNumberGenerator()
            for _ in 0..<200 {
                let at = Int.random(in: 0..<whole.count, using: &generator)
                var damaged = whole
                if Bool.random(using: &generator) {
                    damaged[at] ^= UInt8.random(in: 1...255, using: &generator)
                } else {
                    // Zeros from there on: pages that have not arrived.
                    damaged.replaceSubrange(at..., with: Data(count: whole.count - at))
                }
                try damaged.write(to: URL(fileURLWithPath: path + "/redo"))
                let intact = ends.lastIndex { damaged.prefix($0) == whole.prefix($0) } ?? 0
                let read = times(RedoLog.calls(in: directory, after: 0).calls)
                #expect(read == (0..<intact).map { Int64($0 + 1) }, "damaged at \(at)")
            }
        }
    }

    @Test("A log that is begun anew holds what it was given, and goes on")
    func restarts() throws {
        try inDirectory { directory, _ in
            let log = try RedoLog(in: directory)
            for number in 1...10 { try log.append(RedoLog.encode(call(number)), number: UInt64(number)) }
            try log.restart(in: log.fresh(), with: [call(9), call(10)], from: 9)
            try log.append(RedoLog.encode(call(11)), number: 11)
            #expect(times(RedoLog.calls(in: directory, after: 0).calls) == [9, 10, 11])
        }
    }

    @Test("Another content of a version is read as it was written")
    func contentIsRead() throws {
        try inDirectory { directory, _ in
            let log = try RedoLog(in: directory)
            let (version, content) = (VersionID.random(), ContentID.random())
            try log.append(RedoLog.encode([.content(version, content)]), number: 1)
            guard case .content(version, content)? = RedoLog.calls(in: directory, after: 0).calls.first?.first else {
                Issue.record("it is not")
                return
            }
        }
    }

    @Test("A seal goes with the row of its version, or after it")
    func sealsArrive() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let (early, late) = (Records.version(wall: 1), Records.version(wall: 2))
        var current = [early, late]
        for index in current.indices { (current[index].kind, current[index].flags) = (.current, []) }
        store.commit([.version(current[0])])
        store.seal(current[0].id, [])
        store.commit([.version(current[1])])
        store.flush()
        store.seal(current[1].id, [])
        for version in current { #expect(try store.version(version.id)?.flags == .sealed) }
    }
}
