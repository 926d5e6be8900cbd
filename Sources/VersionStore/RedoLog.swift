// The committed calls that may not be in the catalog yet. They are written before commit returns, so that a killed
// daemon loses none. The log is not synchronized: after a power cut, labels replace it (docs/decisions/0003).

import Glibc
import Logging
import SystemPackage
import VersionModel

/// A transaction as a redo log has it.
protocol RedoCall: Sendable {
    /// The name of the log's file in the state.
    static var logName: String { get }
    /// The number of rows that it changes, about; 0 if it changes nothing.
    var countOfRows: Int { get }

    func write(to writer: inout ByteWriter)
    static func read(_ reader: inout ByteReader) throws(CodingError) -> Self
}

extension Array: RedoCall where Element == VersionStore.Mutation {
    static var logName: String { "redo" }
    var countOfRows: Int { count }

    func write(to writer: inout ByteWriter) {
        writer.count(UInt64(count))
        for mutation in self { writer.mutation(mutation) }
    }

    static func read(_ reader: inout ByteReader) throws(CodingError) -> Self {
        var call: Self = []
        for _ in 0..<(try reader.count(ofAtLeast: 1)) { call.append(try reader.mutation()) }
        return call
    }
}

/// The log of ``VersionStore``.
typealias RedoLog = RedoFile<[VersionStore.Mutation]>

/// A file of records. A record is a transaction that was committed (``VersionStore/commit(_:)``):
///
///     4 bytes      length of what follows, less the checksum
///     8 bytes      number of the call; they rise (those that only seal a version have none here)
///     ...          the call: of a version store, count n and the mutations
///     4 bytes      checksum of number and call
///
/// Zeros follow the last record. Used under the commit queue's lock.
final class RedoFile<Call: RedoCall> {
    static var name: String { Call.logName }
    /// The setting with the number of the catalog's last call; written in the same transaction as the call.
    static var appliedKey: String { "redo-applied" }
    /// At this length, calls that the catalog has are dropped from the log.
    static var limit: Int { 8 << 20 }
    /// An upper bound for all numbers.
    static var mostNumber: UInt64 { 1 << 62 }

    private let state: FileDescriptor
    private var file: AppendedFile
    /// The present file, for a caller that wants to release it last.
    var current: AppendedFile { file }

    /// Ends the log: no record follows.
    func end() { file.end() }

    /// The written bytes, and whether a write has failed: then a new log must be started.
    var length: Int { file.length }
    var isBroken: Bool { file.isBroken }

    /// Opens the log and empties it: its content has been read before.
    init(in state: FileDescriptor) throws(Errno) {
        self.state = state
        file = AppendedFile(
            try System.openRegular(Self.name, in: state, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, mode: 0o600))
    }

    /// The call of a record; the rest follows in its turn.
    static func encode(_ call: Call) -> ByteWriter {
        var writer = ByteWriter(capacity: 1000)
        call.write(to: &writer)
        return writer
    }

    /// The next range to allocate, by a background thread; nil if there is enough room.
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

    /// Eight bytes at a time, by multiplications like FNV-1a, because other threads wait for the lock meanwhile.
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

    private static var successor: String { name + ".new" }

    /// A file for a new log, made without the lock.
    func fresh() throws(Errno) -> AppendedFile {
        let flags = O_RDWR | O_CREAT | O_TRUNC | O_APPEND
        let new = AppendedFile(try System.openRegular(Self.successor, in: state, flags, mode: 0o600))
        if let range = new.roomToMake {
            try new.makeRoom(range)
            new.hasRoom(range)
        }
        return new
    }

    /// Drops all calls except these.
    func restart(
        in new: AppendedFile, with calls: ArraySlice<Call>, from number: UInt64
    ) throws(Errno) {
        for (index, call) in calls.enumerated() {
            try Self.append(Self.encode(call), number: number + UInt64(index), to: new)
        }
        try System.rename(Self.successor, in: state, to: Self.name, in: state)
        file = new
    }

    /// The calls after `applied` in a log, in order, and the number of the last one. Ends before the first incomplete
    /// record.
    static func calls(
        in state: FileDescriptor, after applied: UInt64
    ) -> (calls: [Call], last: UInt64) {
        guard let bytes = try? System.contents(of: name, in: state, limit: 1 << 30) else { return ([], applied) }
        var (calls, last): ([Call], UInt64) = ([], applied)
        var position = 0
        while let (number, call, next) = try? record(bytes, at: position) {
            // No daemon reaches higher numbers.
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
    ) throws -> (number: UInt64, call: Call, next: Int) {
        var reader = ByteReader(bytes, from: position)
        let length = Int(try reader.fixed32())
        let start = reader.position
        guard length >= 9, reader.remaining >= length + 4 else { throw CodingError() }
        var tail = ByteReader(bytes, from: start + length)
        let number = try reader.fixed64()
        let sum = bytes[(start + 8)..<(start + length)].withUnsafeBytes { checksum($0, number: number) }
        guard try tail.fixed32() == sum else { throw CodingError() }
        return (number, try Call.read(&reader), start + length + 4)
    }
}
