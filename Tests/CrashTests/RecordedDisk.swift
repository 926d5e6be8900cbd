// A disk whose every write and flush is recorded, and what a power cut would have left of it.

import CrashLoad
import Foundation
import Support

/// A file system on a loop device on a file of `BlockRecorder`, until ``detach()``.
final class RecordedDisk {
    /// Where it is mounted.
    let path: String
    /// Where it is mounted again: what lies beneath a mount on the first is in reach here.
    let beneath: String
    private let place: String
    private let recorder: Child
    private var isAttached = true
    private var cuts = 0

    private static var keepsImages: Bool { ProcessInfo.processInfo.environment["VERSIONSFS_KEEP"] == "1" }

    init(_ type: FileSystemType, megabytes: Int) throws {
        place = try Workplace.fresh("power-\(type)")
        path = place + "/at"
        beneath = place + "/beneath"
        for name in ["at", "beneath", "recorder", "cut"] { try mustRun("mkdir", ["\(place)/\(name)"]) }
        try mustRun("truncate", ["-s", "\(megabytes)M", place + "/store"])
        try mustRun(type.format[0], Array(type.format.dropFirst()) + [place + "/store"])
        try mustRun("cp", ["--sparse=always", place + "/store", place + "/disk"])
        var start = Child.Start(
            Workplace.products + "/BlockRecorder", [place + "/store", place + "/log", "-f", "-s", place + "/recorder"])
        start.directory = "/"
        recorder = try Child(start)
        let patience = Deadline.after(seconds: 10)
        while !FileManager.default.fileExists(atPath: place + "/recorder/image") {
            guard !patience.isOver, recorder.isRunning else { throw Failure("the recorder does not mount") }
            _ = Deadline.after(seconds: 0.01).poll([])
        }
        try mustRun("mount", ["-o", "loop", place + "/recorder/image", path])
        let device = try mustRun("findmnt", ["-no", "SOURCE", path]).text
        try mustRun("mount", [device.trimmingCharacters(in: .whitespacesAndNewlines), beneath])
        try mustRun("mount", ["--make-private", path])
        try mustRun("mount", ["--make-private", beneath])
    }

    /// Ends the recording; what it recorded stays.
    func detach() throws {
        guard isAttached else { return }
        isAttached = false
        for path in [beneath, path, place + "/recorder"] { try unmount(path) }
        try recorder.wait(.after(seconds: 20))
    }

    /// What the kernel still does for a file system, or a process that has just ended, makes it busy for a moment;
    /// nothing tells when that is over.
    private func unmount(_ path: String) throws {
        let end = ContinuousClock.now + .seconds(60)
        while umount2(path, 0) != 0 {
            guard errno == EBUSY, ContinuousClock.now < end else {
                throw Failure(
                    "umount \(path): \(String(cString: strerror(errno)))",
                    evidence: try run("fuser", ["-vm", path]).text)
            }
            poll(nil, 0, 50)
        }
    }

    func remove() {
        if isAttached {
            for path in [beneath, path, place + "/recorder"] { umount2(path, Int32(MNT_DETACH)) }
            recorder.kill()
        }
        umount2(place + "/cut", Int32(MNT_DETACH))
        try? FileManager.default.removeItem(atPath: place)
    }

    // MARK: Power cuts

    /// What was recorded, in order.
    struct Record {
        var time: UInt64
        var offset: Int
        var length: Int
        var isFlush: Bool
        /// Where its bytes are in the log.
        var position: Int
    }

    /// The log, and the disk as far as it was durable at some record of it.
    struct Replay {
        let records: [Record]
        fileprivate let log: FileHandle
        fileprivate let disk: FileHandle
        /// The records that the disk has.
        fileprivate var durable = 0
    }

    func replay() throws -> Replay {
        guard let log = FileHandle(forReadingAtPath: place + "/log"),
            let disk = FileHandle(forUpdatingAtPath: place + "/disk")
        else { throw Failure.call(place) }
        var records: [Record] = []
        var position = 0
        while true {
            try log.seek(toOffset: UInt64(position))
            guard let head = try log.read(upToCount: 32), head.count == 32 else { break }
            let words = head.withUnsafeBytes { bytes in
                (0..<4).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
            }
            position += 32
            let isFlush = words[3] == 2
            records.append(
                Record(
                    time: words[0], offset: Int(words[1]), length: Int(words[2]), isFlush: isFlush, position: position))
            if !isFlush { position += Int(words[2]) }
        }
        return Replay(records: records, log: log, disk: disk)
    }

    /// How much of what was written since the last flush has arrived.
    enum Arrival: CaseIterable {
        case nothing, everything, anyPages, beginning
    }

    /// Makes the disk as a cut behind so many records would have left it and mounts that; the cuts of one replay go
    /// forward.
    ///
    /// - Returns: where it is mounted, until `body` returns.
    func cut<Result>(
        _ replay: inout Replay, behind end: Int, _ arrival: Arrival, _ dice: inout Dice,
        _ body: (String) throws -> Result
    ) throws -> Result {
        let flush = replay.records[..<end].lastIndex(where: \.isFlush) ?? 0
        for record in replay.records[replay.durable..<max(replay.durable, flush)] {
            try write(record, replay, replay.disk) { true }
        }
        replay.durable = max(replay.durable, flush)
        // A file of its own: a loop device of the cut before may still be there, and mount would take that, with all
        // that it remembers.
        cuts += 1
        let image = "\(place)/image.\(cuts)"
        try mustRun("cp", ["--sparse=always", place + "/disk", image])
        defer { if !Self.keepsImages { unlink(image) } }
        guard let file = FileHandle(forUpdatingAtPath: image) else { throw Failure.call(image) }
        let pending = replay.records[replay.durable..<max(end, replay.durable)]
        let last = pending.indices.randomElement(using: &dice) ?? pending.endIndex
        for index in pending.indices {
            try write(pending[index], replay, file) {
                switch arrival {
                case .nothing: false
                case .everything: true
                case .anyPages: Bool.random(using: &dice)
                case .beginning: index < last || index == last && Bool.random(using: &dice)
                }
            }
        }
        try file.close()
        if Self.keepsImages { try mustRun("cp", ["--sparse=always", image, image + ".before"]) }
        let point = place + "/cut"
        try mustRun("mount", ["-o", "loop", image, point], seconds: 60)
        defer { umount2(point, 0) }
        return try body(point)
    }

    private func write(_ record: Record, _ replay: Replay, _ target: FileHandle, _ arrives: () -> Bool) throws {
        guard !record.isFlush, record.length > 0 else { return }
        try replay.log.seek(toOffset: UInt64(record.position))
        guard let bytes = try replay.log.read(upToCount: record.length), bytes.count == record.length else {
            throw Failure("the log of the disk ends early")
        }
        for start in stride(from: 0, to: record.length, by: 4096) where arrives() {
            try target.seek(toOffset: UInt64(record.offset + start))
            try target.write(contentsOf: bytes[start..<min(start + 4096, record.length)])
        }
    }
}
