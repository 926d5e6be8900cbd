// Identities of facts: each number has one, and is found again by it, or by its first digits.

import Testing
import VersionModel

@testable import VersionStore

@Suite("Identities of facts")
struct FactIDsTests {
    private static let numbers: [UInt64] =
        Array(0...2000) + [65_535, 65_536, 1 << 24, 1 << 32 - 1, 1 << 40, 1 << 47, 1 << 48 - 1]

    private let ids = FactIDs(epoch: .random())

    @Test("a number is found again by its identity")
    func inverse() throws {
        for number in Self.numbers {
            let id: VersionID = try #require(ids.id(number))
            #expect(ids.number(of: id) == number)
        }
        let tooLarge: VersionID? = ids.id(1 << 48)
        #expect(tooLarge == nil)
    }

    @Test("no two have one identity, and those of another epoch have none of these")
    func different() throws {
        let all = try Self.numbers.map { number -> VersionID in try #require(ids.id(number)) }
        #expect(Set(all).count == all.count)
        let other = FactIDs(epoch: .random())
        #expect(all.allSatisfy { other.number(of: $0) == nil })
    }

    @Test("facts that follow one another differ in their first four digits")
    func spread() throws {
        for start: UInt64 in [0, 1000, 1 << 20, 1 << 40] {
            let first = try (start..<start + 2000).map { number -> String in
                let id: VersionID = try #require(ids.id(number))
                return String(id.description.prefix(4))
            }
            #expect(Set(first).count == first.count)
        }
    }

    @Test("by any number of first digits", arguments: [0, 1, 4, 7, 8, 9, 12, 13, 31, 32])
    func digits(count: Int) throws {
        let last: UInt64 = 5000
        for number in stride(from: 1, through: last, by: 617) {
            let id: VersionID = try #require(ids.id(number))
            let digits = String(id.description.prefix(count)).uppercased()
            let found = try #require(ids.numbers(startingWith: digits, through: last, limit: .max) { _ in true })
            let wanted = try (1...last).filter { number in
                let id: VersionID = try #require(ids.id(number))
                return id.description.uppercased().hasPrefix(digits)
            }
            #expect(found == wanted)
            #expect(found.contains(number))
        }
        #expect(ids.numbers(startingWith: "", through: 10, limit: 3) { $0 != 2 } == [1, 3, 4])
    }

    @Test("a number that no fact has yet is not found")
    func later() throws {
        let id: VersionID = try #require(ids.id(5001))
        #expect(ids.numbers(startingWith: id.description, through: 5000, limit: 1) { _ in true } == [])
        #expect(ids.numbers(startingWith: id.description, through: 5001, limit: 1) { _ in true } == [5001])
    }

    @Test("text that is no beginning of an identity", arguments: ["g", "0x", "ab ", String(repeating: "0", count: 33)])
    func otherText(text: String) {
        let found = ids.numbers(startingWith: text, through: 5, limit: 1) { _ in true }
        #expect(found == nil)
    }

    @Test(
        "users have noted these",
        arguments: [
            (1, "db50f012b2a4cdef0123456789abcdef"),
            (12_345, "e44b6b80aa5ccdef0123456789abcdef"),
            (1 << 40, "0e6789abcdefcdef0123456789abcdef"),
        ])
    func noted(number: UInt64, id: String) throws {
        let ids = FactIDs(epoch: try #require(ContainerID(hex: "0123456789abcdef0123456789abcdef")))
        let found: VersionID = try #require(ids.id(number))
        #expect(found.description == id)
    }
}
