// Who may do what by mode and access list, as a table.

import Testing
import VersionModel

@testable import Container

@Suite struct AccessRuleTests {
    /// An access list as the kernel keeps it.
    private static func list(_ entries: [(tag: UInt16, bits: UInt16, id: UInt32)]) -> [UInt8] {
        func little(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        return little(2, 4)
            + entries.flatMap { little(UInt32($0.tag), 2) + little(UInt32($0.bits), 2) + little($0.id, 4) }
    }

    private static let nobody = UInt32.max
    /// Owner 1000 rw, user 1001 rw, owning group 2000 nothing, group 2001 r, mask r, others nothing.
    private static let access = list([
        (1, 6, nobody), (2, 6, 1001), (4, 0, nobody), (8, 4, 2001), (16, 4, nobody), (32, 0, nobody),
    ])

    struct Row: Sendable {
        var mode: UInt32 = 0o640
        var user: UInt32
        var group: UInt32
        var wanted: AccessRule.Access
        var isAllowed: Bool
    }

    static let modes: [Row] = [
        Row(mode: 0o600, user: 1000, group: 5, wanted: .read, isAllowed: true),
        Row(mode: 0o600, user: 1000, group: 5, wanted: [.read, .write], isAllowed: true),
        Row(mode: 0o600, user: 1001, group: 2000, wanted: .read, isAllowed: false),
        Row(mode: 0o640, user: 1001, group: 2000, wanted: .read, isAllowed: true),
        Row(mode: 0o640, user: 1001, group: 2000, wanted: .write, isAllowed: false),
        Row(mode: 0o640, user: 1001, group: 5, wanted: .read, isAllowed: false),
        Row(mode: 0o644, user: 1001, group: 5, wanted: .read, isAllowed: true),
        Row(mode: 0o046, user: 1000, group: 2000, wanted: .read, isAllowed: false),
        Row(mode: 0o604, user: 1001, group: 2000, wanted: .read, isAllowed: false),
        Row(mode: 0o000, user: 0, group: 0, wanted: [.read, .write], isAllowed: true),
    ]

    @Test(arguments: modes) func modeBitsDecideByTheFirstClassThatFits(_ row: Row) {
        let file = Attributes(mode: row.mode, owner: 1000, group: 2000)
        let principal = Principal(user: row.user, groups: [row.group])
        #expect(AccessRule.allows(row.wanted, to: principal, on: file) == row.isAllowed)
    }

    /// The group bits of the mode are the mask here, not the group's.
    static let lists: [Row] = [
        Row(user: 1001, group: 5, wanted: .read, isAllowed: true),
        Row(user: 1001, group: 5, wanted: .write, isAllowed: false),
        Row(user: 1002, group: 2001, wanted: .read, isAllowed: true),
        Row(user: 1002, group: 2000, wanted: .read, isAllowed: false),
        Row(user: 1002, group: 5, wanted: .read, isAllowed: false),
        Row(user: 1000, group: 5, wanted: .write, isAllowed: true),
    ]

    @Test(arguments: lists) func anAccessListDecidesWithItsMask(_ row: Row) {
        let file = Attributes(mode: row.mode, owner: 1000, group: 2000, accessList: Self.access)
        let principal = Principal(user: row.user, groups: [row.group])
        #expect(AccessRule.allows(row.wanted, to: principal, on: file) == row.isAllowed)
    }

    @Test func anAccessListThatCannotBeReadAllowsNobodyElse() {
        for bytes in [[0], Self.access.dropLast(), [3] + Self.access.dropFirst()] as [[UInt8]] {
            let file = Attributes(mode: 0o666, owner: 1000, group: 2000, accessList: Array(bytes))
            #expect(!AccessRule.allows(.read, to: Principal(user: 1001), on: file))
            #expect(AccessRule.allows(.read, to: Principal(user: 1000), on: file))
        }
    }
}
