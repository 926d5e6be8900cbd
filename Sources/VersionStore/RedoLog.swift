// What was committed and may not be in the catalog yet: written before commit returns, so that a killed daemon loses
// nothing of it. It is not synchronised: after a power cut, labels say what is missing (docs/decisions/0003).

import Glibc
import Logging
import SystemPackage
import VersionModel

/// A file of records, each one call of ``VersionStore/commit(_:)``:
///
///     4 bytes      length of what follows, less the checksum
///     8 bytes      number of the call; they rise by one
///     count n      mutations
///     4 bytes      FNV-1a of number and mutations
///
/// Used under the commit queue's lock.
final class RedoLog {
    static let name = "redo"
    /// The setting that says which calls the catalog has; written in the same transaction as they.
    static let appliedKey = "redo-applied"
    /// From this length on, what the catalog has is dropped from the log.
    static let limit = 8 << 20

    private let state: FileDescriptor
    private var file: FileDescriptor
    private(set) var length = 0

    /// Opens the log, empty: what was in it has been read before.
    init(in state: FileDescriptor) throws(Errno) {
        self.state = state
        file = try System.open(Self.name, in: state, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, mode: 0o600)
    }

    deinit { System.close(file) }

    /// A record but for its number and checksum, which it gets when it is its turn.
    static func encode(_ call: [VersionStore.Mutation]) -> [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        writer.fixed(UInt32(0))
        writer.fixed(UInt64(0))
        writer.count(UInt64(call.count))
        for mutation in call { writer.mutation(mutation) }
        return writer.bytes
    }

    func append(_ record: [UInt8], number: UInt64) throws(Errno) {
        var record = record
        Self.put(UInt64(UInt32(clamping: record.count - 4)), 4, into: &record, at: 0)
        Self.put(number, 8, into: &record, at: 4)
        Self.put(UInt64(LabelCoding.checksum(record[4...])), 4, into: &record, at: record.count)
        try System.writeAll(record, to: file)
        length += record.count
    }

    /// Writes the low bytes of a number, little-endian, over what is there or behind it.
    private static func put(_ value: UInt64, _ count: Int, into bytes: inout [UInt8], at position: Int) {
        for index in 0..<count {
            let byte = UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))
            if position + index < bytes.count { bytes[position + index] = byte } else { bytes.append(byte) }
        }
    }

    /// Drops everything but these calls.
    func restart(with calls: [[VersionStore.Mutation]], from number: UInt64) throws(Errno) {
        let temporary = Self.name + ".new"
        let fresh = try System.open(
            temporary, in: state, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, mode: 0o600)
        System.close(file)
        (file, length) = (fresh, 0)
        for (index, call) in calls.enumerated() { try append(Self.encode(call), number: number + UInt64(index)) }
        try System.rename(temporary, in: state, to: Self.name, in: state)
    }

    /// The calls behind `applied` that a log holds, in order; ends before the first record that is not whole.
    static func calls(in state: FileDescriptor, after applied: UInt64) -> [[VersionStore.Mutation]] {
        guard let bytes = try? System.contents(of: name, in: state, limit: 1 << 30) else { return [] }
        var calls: [[VersionStore.Mutation]] = []
        var position = 0
        while let (number, call, next) = try? record(bytes, at: position) {
            if number > applied { calls.append(call) }
            position = next
        }
        return calls
    }

    private static func record(
        _ bytes: [UInt8], at position: Int
    ) throws -> (number: UInt64, call: [VersionStore.Mutation], next: Int) {
        var reader = ByteReader(bytes, from: position)
        let length = Int(try reader.fixed32())
        let start = reader.position
        guard length >= 9, reader.remaining >= length + 4 else { throw CodingError() }
        var tail = ByteReader(bytes, from: start + length)
        guard try tail.fixed32() == LabelCoding.checksum(bytes[start..<(start + length)]) else { throw CodingError() }
        let number = try reader.fixed64()
        var call: [VersionStore.Mutation] = []
        for _ in 0..<(try reader.count(ofAtLeast: 1)) { call.append(try reader.mutation()) }
        return (number, call, start + length + 4)
    }
}
