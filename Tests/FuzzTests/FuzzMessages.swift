// Requests as the kernel would write them, and what random damage does to them.

import Glibc
import Support

extension SeededGenerator {
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &self) }
    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }
    mutating func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &self) }
}

/// The bytes of a structure, in the machine's order.
struct Layout {
    private(set) var bytes: [UInt8] = []

    static func + (layout: Layout, value: some FixedWidthInteger & BitwiseCopyable) -> Layout {
        var result = layout
        withUnsafeBytes(of: value) { result.bytes += $0 }
        return result
    }

    static func + (layout: Layout, name: [UInt8]) -> Layout {
        var result = layout
        result.bytes += name
        return result
    }
}

/// Draws requests of all kinds about nodes and handles that answers have named.
struct FuzzMessages {
    static let initialize: UInt32 = 26
    private static let destroy: UInt32 = 38
    private static let unanswered: Set<UInt32> = [2, 36, 41, 42]
    /// Codes of requests that take a node's number and answer with an entry, or with a handle.
    static let entries: Set<UInt32> = [1, 6, 8, 9, 13, 35, 51]
    static let openings: Set<UInt32> = [14, 27]

    private static let names =
        ["a", "b", "c.txt", "f~", "d", "e", "link", ".versions", ".versionsfs", "..", ".", "a/b", ""]
        .map { Array($0.utf8) } + [
            [UInt8](repeating: 120, count: 255), [UInt8](repeating: 120, count: 256), [0xff, 0xfe],
        ]
    private static let attributes = [
        "user.x", "user.versions.item", "user.versionsfs.label", "system.posix_acl_access", "",
    ]
        .map { Array($0.utf8) }

    private var dice: SeededGenerator
    private var unique: UInt64 = 100
    private(set) var nodes: [UInt64] = [1]
    private(set) var handles: [UInt64] = [0]

    init(seed: UInt64) { dice = SeededGenerator(seed: seed) }

    static func isAnswered(_ opcode: UInt32) -> Bool { !unanswered.contains(opcode) }

    mutating func learn(node: UInt64) { if node != 0, nodes.count < 4000 { nodes.append(node) } }
    mutating func learn(handle: UInt64) { if handles.count < 4000 { handles.append(handle) } }
    /// What is left open in the end is closed as the kernel would.
    var opened: [UInt64] { handles }

    static func first() -> [UInt8] {
        let body = Layout() + UInt32(7) + UInt32(41) + UInt32(131_072) + UInt32.max + UInt32.max
        return message(initialize, unique: 2, node: 0, body.bytes + [UInt8](repeating: 0, count: 44))
    }

    static func message(
        _ opcode: UInt32, unique: UInt64, node: UInt64, user: UInt32 = 0, thread: UInt32 = 1, _ body: [UInt8]
    )
        -> [UInt8]
    {
        let header = Layout() + UInt32(40 + body.count) + opcode + unique + node + user + user + thread + UInt32(0)
        return header.bytes + body
    }

    /// The next request; half of them damaged.
    mutating func next() -> [UInt8] {
        unique += 2
        let opcode = UInt32(1 + dice.below(53))
        let node = dice.oneIn(20) ? dice.next() : dice.pick(nodes) ?? 1
        let user: UInt32 = dice.oneIn(3) ? 65534 : 0
        let body = body(opcode)
        var message = Self.message(opcode, unique: unique, node: node, user: user, thread: UInt32(getpid()), body)
        if dice.oneIn(2) { damage(&message) }
        return Self.isHarmful(message) ? next() : message
    }

    /// The end of the session, and another beginning, are the transport's and not the stream's.
    private static func isHarmful(_ message: [UInt8]) -> Bool {
        message.count >= 8
            && message.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self) } == destroy
    }

    private mutating func damage(_ message: inout [UInt8]) {
        for _ in 0...dice.below(3) {
            switch dice.below(7) {
            case 0: message[dice.below(message.count)] = UInt8(truncatingIfNeeded: dice.next())
            case 1: message.removeLast(min(message.count - 40, dice.below(64)))
            case 2: message += (0..<dice.below(64)).map { _ in UInt8(1 + dice.below(255)) }
            // A name without its end, when it is the last.
            case 3: if message.count > 40, message.last == 0 { message.removeLast() }
            // A huge number where a number may be.
            case 4 where message.count >= 48:
                let offset = 40 + 4 * dice.below((message.count - 40) / 4)
                for index in offset..<min(offset + 4, message.count) { message[index] = 0xff }
            case 5: message.replaceSubrange(4..<6, with: [UInt8(dice.below(60)), dice.oneIn(30) ? 1 : 0])
            default: break
            }
            // The length is right most of the time, or nothing behind it would ever be looked at.
            if !dice.oneIn(10) {
                withUnsafeBytes(of: UInt32(message.count)) { message.replaceSubrange(0..<4, with: $0) }
            }
        }
        // Never another request's number: an answer must be told from all others.
        withUnsafeBytes(of: unique) { message.replaceSubrange(8..<16, with: $0) }
    }

    private mutating func name() -> [UInt8] {
        (dice.oneIn(8) ? (0..<dice.below(20)).map { _ in UInt8(1 + dice.below(255)) } : dice.pick(Self.names) ?? []) + [
            0
        ]
    }

    private mutating func handle() -> UInt64 { dice.oneIn(10) ? dice.next() : dice.pick(handles) ?? 0 }
    private mutating func offset() -> UInt64 { dice.oneIn(10) ? dice.next() : UInt64(dice.below(5000)) }
    private mutating func size() -> UInt32 {
        dice.oneIn(10) ? UInt32(truncatingIfNeeded: dice.next()) : UInt32(dice.below(9000))
    }
    private mutating func node() -> UInt64 { dice.pick(nodes) ?? 1 }
    private mutating func word() -> UInt32 { UInt32(truncatingIfNeeded: dice.next()) }
    private mutating func mode(_ types: [UInt32]) -> UInt32 { (dice.pick(types) ?? 0) | UInt32(dice.below(0o1000)) }
    private mutating func openFlags() -> UInt32 {
        dice.pick([0, 1, 2, 0o1001, 0o1002, 0o2001, 0o102, 0o101_001]) ?? 0
    }
    private mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
    }

    private mutating func body(_ opcode: UInt32) -> [UInt8] {
        let empty = Layout()
        switch opcode {
        case 1, 10, 11: return name()
        case 24: return (dice.pick(Self.attributes) ?? []) + [0]
        case 2: return (empty + UInt64(dice.below(3))).bytes
        case 3: return (empty + UInt32(dice.below(2)) + UInt32(0) + handle()).bytes
        case 4: return attributeChange()
        case 6: return name() + name()
        case 8:
            return
                (empty + mode([0o100000, 0o010000, 0o140000, 0o020000]) + UInt32(0x103) + UInt32(0o22) + UInt32(0)
                + name()).bytes
        case 9: return (empty + mode([0]) + UInt32(0o22) + name()).bytes
        case 12: return (empty + node() + name() + name()).bytes
        case 13: return (empty + node() + name()).bytes
        case 14, 27: return (empty + openFlags() + UInt32(0)).bytes
        case 15, 28, 44:
            return (empty + handle() + offset() + size() + UInt32(0) + UInt64(0) + openFlags() + UInt32(0)).bytes
        case 16:
            let data = bytes(dice.below(3000))
            let head = empty + handle() + offset() + UInt32(data.count) + UInt32(dice.below(8)) + UInt64(0)
            return (head + openFlags() + UInt32(0) + data).bytes
        case 18, 29, 25: return (empty + handle() + openFlags() + UInt32(dice.below(4)) + UInt64(0)).bytes
        case 20, 30: return (empty + handle() + UInt32(dice.below(2)) + UInt32(0)).bytes
        case 21:
            let value = bytes(dice.below(100))
            return
                (empty + UInt32(value.count) + UInt32(dice.below(3)) + ((dice.pick(Self.attributes) ?? []) + [0])
                + value).bytes
        case 22: return (empty + UInt32(dice.below(200)) + UInt32(0) + ((dice.pick(Self.attributes) ?? []) + [0])).bytes
        case 23: return (empty + UInt32(dice.below(200)) + UInt32(0)).bytes
        case 35: return (empty + openFlags() + mode([0o100000]) + UInt32(0o22) + UInt32(dice.below(2)) + name()).bytes
        case 36: return (empty + (unique &- UInt64(dice.below(10)))).bytes
        case 39:
            return
                (empty + handle() + UInt32(0) + (dice.pick([0x8008_6601, 0x801c_581f, 7]) ?? 7) + UInt64(0) + UInt32(0)
                + UInt32(dice.below(64))).bytes
        case 42:
            let count = dice.below(4)
            return (0..<count).reduce(empty + UInt32(count) + UInt32(0)) { layout, _ in layout + node() + UInt64(1) }
                .bytes
        case 43:
            return (empty + handle() + offset() + UInt64(dice.below(100_000)) + UInt32(dice.below(4)) + UInt32(0)).bytes
        case 45: return (empty + node() + UInt32(dice.below(8)) + UInt32(0) + name() + name()).bytes
        case 46: return (empty + handle() + offset() + UInt32(dice.below(6)) + UInt32(0)).bytes
        case 47:
            return
                (empty + handle() + offset() + node() + handle() + offset() + UInt64(dice.below(100_000)) + UInt64(0))
                .bytes
        case 51: return (empty + openFlags() + mode([0o100000]) + UInt32(0o22) + UInt32(0) + name()).bytes
        case 52: return (empty + UInt32(dice.below(2)) + UInt32(0) + handle() + UInt32(0) + UInt32(0xfff)).bytes
        default: return bytes(dice.below(80))
        }
    }

    private mutating func attributeChange() -> [UInt8] {
        let head = Layout() + UInt32(dice.below(0x1000)) + UInt32(0) + handle() + offset() + UInt64(0)
        let times = head + dice.next() + dice.next() + dice.next() + word() + word() + word()
        return (times + mode([0o100000]) + UInt32(0) + UInt32(dice.below(2) * 65534) + UInt32(0) + UInt32(0)).bytes
    }
}
