// Who may do what by mode and access list, as a table.

import Testing
import VersionModel

@testable import Container

@Suite struct OperationsAccessRuleTests {
    /// An access list as the kernel keeps it.
    private static func list(_ entries: [(tag: UInt16, bits: UInt16, id: UInt32)]) -> [UInt8] {
        func little(_ value: UInt32, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        return little(2, 4) + entries.flatMap { little(UInt32($0.tag), 2) + little(UInt32($0.bits), 2) + little($0.id, 4) }
    }

    private static let nobody = UInt32.max
    /// Owner 1000 rw, user 1001 rw, owning group 2000 nothing, group 2001 r, mask r, others nothing.
    private static let access = list([
        (1, 6, nobody), (2, 6, 1001), (4, 0, nobody), (8, 4, 2001), (16, 4, nobody), (32, 0, nobody),
    ])

    @Test(arguments: [
        (UInt32(0o600), UInt32(1000), UInt32(5), AccessRule.Access.read, true),
        (0o600, 1000, 5, [.read, .write], true),
        (0o600, 1001, 2000, .read, false),
        (0o640, 1001, 2000, .read, true),
        (0o640, 1001, 2000, .write, false),
        (0o640, 1001, 5, .read, false),
        (0o644, 1001, 5, .read, true),
        (0o046, 1000, 2000, .read, false),
        (0o604, 1001, 2000, .read, false),
        (0o000, 0, 0, [.read, .write], true),
    ])
    func modeBitsDecideByTheFirstClassThatFits(
        _ mode: UInt32, _ user: UInt32, _ group: UInt32, _ wanted: AccessRule.Access, _ allowed: Bool
    ) {
        let file = Attributes(mode: mode, owner: 1000, group: 2000)
        #expect(AccessRule.allows(wanted, to: Principal(user: user, groups: [group]), on: file) == allowed)
    }

    @Test(arguments: [
        (UInt32(1001), UInt32(5), AccessRule.Access.read, true),
        (1001, 5, .write, false),  // masked
        (1002, 2001, .read, true),
        (1002, 2000, .read, false),  // the group bits of the mode are the mask, not the group's
        (1002, 5, .read, false),
        (1000, 5, .write, true),
    ])
    func anAccessListDecidesWithItsMask(_ user: UInt32, _ group: UInt32, _ wanted: AccessRule.Access, _ allowed: Bool) {
        let file = Attributes(mode: 0o640, owner: 1000, group: 2000, accessList: Self.access)
        #expect(AccessRule.allows(wanted, to: Principal(user: user, groups: [group]), on: file) == allowed)
    }

    @Test func anAccessListThatCannotBeReadAllowsNobodyElse() {
        for bytes in [[0], Self.access.dropLast(), [3] + Self.access.dropFirst()] as [[UInt8]] {
            let file = Attributes(mode: 0o666, owner: 1000, group: 2000, accessList: Array(bytes))
            #expect(!AccessRule.allows(.read, to: Principal(user: 1001), on: file))
            #expect(AccessRule.allows(.read, to: Principal(user: 1000), on: file))
        }
    }
}
