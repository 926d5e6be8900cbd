// What was committed and may not be in the catalog yet: written before commit returns, so that a killed daemon loses
// nothing of it. It is not synchronised: after a power cut, labels say what is missing (docs/decisions/0003).

import Glibc
import Logging
import SystemPackage
import VersionModel

/// A file of records, each one call of ``VersionStore/commit(_:)``:
///
///     4 bytes      length of what follows, less the checksum
///     8 bytes      number of the call; they rise (those that only seal a version have none here)
///     count n      mutations
///     4 bytes      checksum of number and mutations
///
/// Zeros follow the last one. Used under the commit queue's lock.
final class RedoLog {
    static let name = "redo"
    /// The setting that says which calls the catalog has; written in the same transaction as they.
    static let appliedKey = "redo-applied"
    /// From this length on, what the catalog has is dropped from the log.
    static let limit = 8 << 20
    /// Every number is less.
    static let mostNumber: UInt64 = 1 << 62

    private let state: FileDescriptor
    private var file: AppendedFile
    /// The file that is written now, for whoever wants to be the last to hold it.
    var current: AppendedFile { file }

    /// Nothing is recorded afterwards.
    func end() { file.end() }

    /// Bytes written, and whether some could not be: then it is to be begun anew.
    var length: Int { file.length }
    var isBroken: Bool { file.isBroken }

    /// Opens the log, empty: what was in it has been read before.
    init(in state: FileDescriptor) throws(Errno) {
        self.state = state
        file = AppendedFile(
            try System.openRegular(Self.name, in: state, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, mode: 0o600))
    }

    /// The mutations of a record; the rest it gets when it is its turn.
    static func encode(_ call: [VersionStore.Mutation]) -> ByteWriter {
        var writer = ByteWriter(capacity: 1000)
        writer.count(UInt64(call.count))
        for mutation in call { writer.mutation(mutation) }
        return writer
    }

    /// Room that is to be made for what comes, by whoever has time; nil if there is enough.
    var roomToMake: (file: AppendedFile, range: Range<Int>)? { file.roomToMake.map { (file, $0) } }

    func append(_ record: borrowing ByteWriter, number: UInt64) throws(Errno) {
        try Self.append(record, number: number, to: file)
    }

    private static func append(_ record: borrowing ByteWriter, number: UInt64, to file: AppendedFile) throws(Errno) {
        var failure: Errno?
        record.withBytes { bytes in
            do throws(Errno) {
                try file.append(
                    length: UInt32(clamping: bytes.count + 8), number, bytes, checksum(bytes, number: number))
            } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Eight bytes at a time, by multiplications as in FNV-1a: it is computed while others wait for the lock.
    private static func checksum(_ bytes: UnsafeRawBufferPointer, number: UInt64) -> UInt32 {
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ word: UInt64) {
            sum = (sum ^ word) &* 0x9e37_79b9_7f4a_7c15
            sum ^= sum >> 29
        }
        add(number)
        var position = 0
        while position + 8 <= bytes.count {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
            position += 8
        }
        var rest: UInt64 = UInt64(bytes.count) << 56
        for (index, byte) in bytes[position...].enumerated() { rest |= UInt64(byte) << (8 * UInt64(index)) }
        add(rest)
        return UInt32(truncatingIfNeeded: sum ^ sum >> 32)
    }

    private static let successor = name + ".new"

    /// A file to begin anew with, made without the lock.
    func fresh() throws(Errno) -> AppendedFile {
        let flags = O_RDWR | O_CREAT | O_TRUNC | O_APPEND
        let new = AppendedFile(try System.openRegular(Self.successor, in: state, flags, mode: 0o600))
        if let range = new.roomToMake {
            try new.makeRoom(range)
            new.hasRoom(range)
        }
        return new
    }

    /// Drops everything but these calls.
    func restart(
        in new: AppendedFile, with calls: ArraySlice<[VersionStore.Mutation]>, from number: UInt64
    ) throws(Errno) {
        for (index, call) in calls.enumerated() {
            try Self.append(Self.encode(call), number: number + UInt64(index), to: new)
        }
        try System.rename(Self.successor, in: state, to: Self.name, in: state)
        file = new
    }

    /// The calls behind `applied` that a log holds, in order, and the number of the last; ends before the first record
    /// that is not whole.
    static func calls(
        in state: FileDescriptor, after applied: UInt64
    ) -> (calls: [[VersionStore.Mutation]], last: UInt64) {
        guard let bytes = try? System.contents(of: name, in: state, limit: 1 << 30) else { return ([], applied) }
        var (calls, last): ([[VersionStore.Mutation]], UInt64) = ([], applied)
        var position = 0
        while let (number, call, next) = try? record(bytes, at: position) {
            // No daemon counts to higher numbers than that.
            guard number < mostNumber else { break }
            if number > applied {
                calls.append(call)
                last = max(last, number)
            }
            position = next
        }
        return (calls, last)
    }

    private static func record(
        _ bytes: [UInt8], at position: Int
    ) throws -> (number: UInt64, call: [VersionStore.Mutation], next: Int) {
        var reader = ByteReader(bytes, from: position)
        let length = Int(try reader.fixed32())
        let start = reader.position
        guard length >= 9, reader.remaining >= length + 4 else { throw CodingError() }
        var tail = ByteReader(bytes, from: start + length)
        let number = try reader.fixed64()
        let sum = bytes[(start + 8)..<(start + length)].withUnsafeBytes { checksum($0, number: number) }
        guard try tail.fixed32() == sum else { throw CodingError() }
        var call: [VersionStore.Mutation] = []
        for _ in 0..<(try reader.count(ofAtLeast: 1)) { call.append(try reader.mutation()) }
        return (number, call, start + length + 4)
    }
}
