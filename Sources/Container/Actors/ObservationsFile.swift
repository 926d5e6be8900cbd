// Observations as bytes, for an orderly remount: they serve the processes that still run then.

import VersionModel

extension Observations {
    private static let magic: [UInt8] = Array("VFSobs2\n".utf8)

    /// All observations as bytes. Their times are those of the clock of this boot.
    /// - Parameter boot: the identity of the boot (`/proc/sys/kernel/random/boot_id`).
    public func exported(boot: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.bytes += Self.magic
        writer.put(boot)
        writer.put(UInt64(ledgers.count))
        for (actor, ledger) in ledgers {
            writer.put(UInt64(UInt32(bitPattern: actor.process)))
            writer.put(actor.started)
            for trails in [ledger.own, ledger.lent] {
                writer.put(UInt64(trails.count))
                for (item, trail) in trails {
                    writer.put(item)
                    writer.put(trail.last)
                    let flags = (trail.before == nil ? 0 : 1) | (trail.isBlind ? 2 : 0)
                    writer.put(UInt64(flags) | UInt64(UInt32(clamping: trail.reads)) << 2)
                    if let before = trail.before { writer.put(before) }
                }
            }
        }
        return writer.bytes
    }

    /// Reads the result of ``exported(boot:)``; nil if it is damaged or of another boot.
    /// - Parameter isAlive: whether the process still runs; observations of other processes are left out.
    public init?(imported bytes: [UInt8], boot: [UInt8], limit: Int = 64 << 20, isAlive: (ActorRef) -> Bool) {
        self.init(limit: limit)
        var reader = ByteReader(bytes: bytes)
        guard reader.take(Self.magic.count).map(Array.init) == Self.magic, reader.takeBytes() == boot,
            let actors = reader.takeNumber()
        else { return nil }
        var found: [(trail: Trail, item: ItemID, actor: ActorRef, isOwn: Bool)] = []
        for _ in 0..<actors {
            guard let process = reader.takeNumber(), let started = reader.takeNumber() else { return nil }
            let actor = ActorRef(process: Int32(truncatingIfNeeded: process), started: started)
            let keeps = isAlive(actor)
            for isOwn in [true, false] {
                guard let count = reader.takeNumber() else { return nil }
                for _ in 0..<count {
                    guard let item: ItemID = reader.takeIdentifier(), let last = reader.takeMark(),
                        let flags = reader.takeNumber(), let reads = UInt32(exactly: flags >> 2)
                    else { return nil }
                    let before = flags & 1 != 0 ? reader.takeMark() : nil
                    guard flags & 1 == 0 || before != nil else { return nil }
                    let trail = Trail(last: last, before: before, isBlind: flags & 2 != 0, reads: Int(reads))
                    if keeps { found.append((trail, item, actor, isOwn)) }
                }
            }
        }
        guard reader.isAtEnd else { return nil }
        // In their original order, so that the oldest are dropped first.
        for one in found.sorted(by: { $0.trail.last.sequence < $1.trail.last.sequence }) {
            add(one.trail.last, of: one.item, to: one.actor, isOwn: one.isOwn)
            if one.isOwn {
                ledgers[one.actor]?.own[one.item] = one.trail
            } else {
                ledgers[one.actor]?.lent[one.item] = one.trail
            }
        }
    }
}

/// Appends numbers (8 bytes, least significant first) and counted bytes.
private struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func put(_ number: UInt64) {
        for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(shift)))) }
    }

    mutating func put<Subject>(_ identifier: Identifier<Subject>) {
        put(identifier.high)
        put(identifier.low)
    }

    mutating func put(_ counted: [UInt8]) {
        put(UInt64(counted.count))
        bytes += counted
    }

    mutating func put(_ mark: Observations.Mark) {
        put(mark.version)
        put(UInt64(bitPattern: mark.time))
        put(mark.sequence << 1 | (mark.isRead ? 1 : 0))
    }
}

/// Reads them; nil instead of a read past the end.
private struct ByteReader {
    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= bytes.count - position else { return nil }
        defer { position += count }
        return bytes[position..<(position + count)]
    }

    mutating func takeNumber() -> UInt64? {
        guard bytes.count - position >= 8 else { return nil }
        var number: UInt64 = 0
        for index in 0..<8 { number |= UInt64(bytes[position + index]) << (8 * UInt64(index)) }
        position += 8
        return number
    }

    mutating func takeIdentifier<Subject>() -> Identifier<Subject>? {
        guard let high = takeNumber(), let low = takeNumber() else { return nil }
        return Identifier(high: high, low: low)
    }

    mutating func takeBytes() -> [UInt8]? {
        takeNumber().flatMap { Int(exactly: $0) }.flatMap { take($0) }.map(Array.init)
    }

    mutating func takeMark() -> Observations.Mark? {
        guard let version: VersionID = takeIdentifier(), let time = takeNumber(),
            let order = takeNumber()
        else { return nil }
        return Observations.Mark(
            version: version, time: Int64(bitPattern: time), sequence: order >> 1, isRead: order & 1 == 1)
    }
}
