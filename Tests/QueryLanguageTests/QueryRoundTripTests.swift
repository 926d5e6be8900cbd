// Random predicates are printed and read again; random texts are read, and nothing comes of them but an error.

import Foundation
import QueryLanguage
import Testing
import VersionModel

/// Makes predicates, entries and texts.
private struct QueryGenerator {
    var random: SeededGenerator

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func bytes() -> [UInt8] {
        let alphabet: [[UInt8]] = [
            Array("ab.c".utf8), [34, 39, 92, 10, 9, 0, 127], Array("*?[]()".utf8), Array("éΩ字🦉".utf8),
            [0xFF, 0xC3, 0x80], Array(" AND ".utf8),
        ]
        return (0..<number(0..<4)).flatMap { _ in
            let part = alphabet[number(0..<alphabet.count)]
            return part.count < 8 && number(0..<2) == 0 ? part : [part[number(0..<part.count)]]
        }
    }

    mutating func value(of attribute: QueryAttribute) -> QueryValue {
        switch attribute.kind {
        case .text: .text(bytes())
        case .word(let words): .text(words[number(0..<words.count)])
        case .number: .number([0, 1, -1, .max, .min, Int64(number(0..<100_000))][number(0..<6)])
        case .moment: .moment(Timestamp(nanoseconds: Int64.random(in: 0...4_000_000_000_000_000_000, using: &random)))
        }
    }

    mutating func test() -> QueryPredicate {
        let attribute = QueryAttribute.allCases[number(0..<QueryAttribute.allCases.count)]
        let isText = attribute.kind == .text
        var isWord = false
        if case .word = attribute.kind { isWord = true }
        let ignoresCase = isText && number(0..<3) == 0
        switch number(0..<(isText ? 3 : 2)) {
        case 0:
            let all = QueryTest.Relation.allCases
            let relation = isWord || ignoresCase ? all[number(0..<2)] : all[number(0..<all.count)]
            return .comparison(attribute, relation, value(of: attribute), ignoringCase: ignoresCase)
        case 1:
            let values = (0..<number(0..<4)).map { _ in value(of: attribute) }
            return .isOne(attribute, of: values, ignoringCase: ignoresCase)
        default:
            var pattern = bytes()
            while pattern.last == 92 { pattern.removeLast() }
            return .test(QueryTest(attribute, .like(pattern), ignoresCase: ignoresCase))
        }
    }

    mutating func predicate(_ depth: Int = 0) -> QueryPredicate {
        switch number(0..<(depth > 5 ? 3 : 7)) {
        case 0: return .always(number(0..<2) == 0)
        case 1, 2: return test()
        case 3: return .not(predicate(depth + 1))
        case 4: return .and((0..<number(2..<4)).map { _ in predicate(depth + 1) })
        case 5: return .or((0..<number(2..<4)).map { _ in predicate(depth + 1) })
        default: return test()
        }
    }
}

@Suite("Queries at random")
struct QueryRoundTripTests {
    private static let isFull = ProcessInfo.processInfo.environment["VERSIONSFS_FULL"] == "1"

    /// A run with the full numbers has a seed of its own; each is printed, and VERSIONSFS_SEED brings it back.
    private static func seed() -> UInt64 {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? (isFull ? UInt64.random(in: .min ... .max) : 20_261_122)
        print("QueryRoundTripTests: seed \(seed)")
        return seed
    }

    @Test("what is printed reads as the same query, and gives the same answers")
    func roundTrip() throws {
        let seed = Self.seed()
        var generator = QueryGenerator(random: SeededGenerator(state: seed))
        for _ in 0..<(Self.isFull ? 20_000 : 2_000) {
            let predicate = generator.predicate()
            let text = "\(predicate)"
            let read = try? QueryPredicate(parsing: text)
            #expect(read == predicate, "seed \(seed): \(text) reads as \(read.map { "\($0)" } ?? "nothing")")
            var entry: [QueryAttribute: QueryValue] = [:]
            for attribute in QueryAttribute.allCases where generator.number(0..<4) > 0 {
                entry[attribute] = generator.value(of: attribute)
            }
            let answer = QueryMatcher(predicate).matches { entry[$0] }
            #expect(QueryMatcher(.not(predicate)).matches { entry[$0] } != answer, "seed \(seed): \(text)")
            #expect(read.map { QueryMatcher($0).matches { entry[$0] } } == answer, "seed \(seed): \(text)")
        }
    }

    @Test("no text makes the reader do anything but read or refuse, and what it reads it can print")
    func garbage() throws {
        let seed = Self.seed()
        var generator = QueryGenerator(random: SeededGenerator(state: seed))
        let words = [
            "name", "size", "type", "modified", "LIKE", "IN", "WITHIN", "AND", "OR", "NOT", "(", ")", ",", "=", "!=",
            "<", "<=", "[c]", "'a'", "\"b\\x4", "10KiB", "-", "--1", "99999999999999999999", "2h", "file", "TRUE",
            "!", "&&", "|", "\\", "[", "é",
        ]
        for _ in 0..<(Self.isFull ? 200_000 : 20_000) {
            var text: [UInt8] = []
            for _ in 0..<generator.number(0..<12) {
                text += generator.number(0..<8) == 0
                    ? [UInt8(generator.number(0..<256))] : Array(words[generator.number(0..<words.count)].utf8)
                if generator.number(0..<3) > 0 { text.append(32) }
            }
            do {
                let predicate = try QueryPredicate(parsing: text)
                #expect(try QueryPredicate(parsing: "\(predicate)") == predicate, "seed \(seed): \(text)")
            } catch {
                #expect((0...text.count).contains(error.offset) && !error.message.isEmpty, "seed \(seed): \(text)")
            }
        }
    }
}
