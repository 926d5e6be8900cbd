// What queries mean: a table of queries against one entry, patterns, and where a wrong query is wrong.

import QueryLanguage
import Testing
import VersionModel

@Suite("What a query means")
struct QueryMeaningTests {
    /// A picture of 2,048 bytes with two losers.
    private static let entry: [QueryAttribute: QueryValue] = [
        .name: .text("Beach.SICD"), .path: .text("Pictures/Beach.SICD"), .extension: .text("SICD"),
        .type: .text("file"), .size: .number(2048), .conflicts: .number(2), .versions: .number(5),
        .modified: .moment(Timestamp(rfc3339: "2026-11-21T10:33:00Z") ?? Timestamp(nanoseconds: 0)),
        .user: .text("anna"),
    ]

    @Test(
        "each kind of question is answered",
        arguments: [
            ("", true), ("TRUE", true), ("false", false), ("name = 'Beach.SICD'", true), ("name = Beach.SICD", true),
            ("name = 'beach.sicd'", false), ("name =[c] 'beach.sicd'", true), ("name LIKE \"*.sicd\"", false),
            ("name LIKE[c] \"*.sicd\"", true), ("name like[C] '?each.*'", true), ("path LIKE '*/Beach*'", true),
            ("name NOT LIKE '*.sicd'", true), ("size > 1KiB", true), ("size>=2048 AND size<=2kib", true),
            ("size = 2kb", false), ("conflicts > 0", true), ("conflicts > 0 AND name LIKE '*.txt'", false),
            ("type = file", true), ("type = FILE", true), ("type != directory", true),
            ("type IN (file, symlink)", true), ("type NOT IN (file)", false), ("name IN ()", false),
            ("name IN[c] ('x', 'BEACH.sicd')", true), ("modified > 2026-11-21T10:32:59Z", true),
            ("modified <= \"2026-11-21T11:33:00+01:00\"", true), ("user = anna OR FALSE", true),
            ("NOT (size < 3000)", false), ("!size < 3000 || conflicts=2 && versions=5", true),
            ("modified WITHIN 2026-11-21T10:33:00Z", true), ("modified within 2026-11-21T10:33:01Z", false),
            ("modified NOT WITHIN 2026-11-21T10:33:00Z", false), ("saved within 1970-01-01T00:00:00Z", false),
            ("modified WITHIN '2026-11-21T10:00:00Z' AND size > 1", true),
            // AND before OR, NOT before both.
            ("TRUE OR FALSE AND FALSE", true), ("(TRUE OR FALSE) AND FALSE", false), ("NOT FALSE AND FALSE", false),
            // What the entry has not got equals nothing and is different from everything.
            ("program = ''", false), ("program != 'vim'", true), ("program < 'z'", false), ("NOT program = 'x'", true),
            ("program LIKE '*'", false), ("saved > 1970-01-01T00:00:00Z", false),
        ])
    func table(query: String, expected: Bool) throws {
        #expect(try QueryMatcher(QueryPredicate(parsing: query)).matches { Self.entry[$0] } == expected)
    }

    @Test(
        "patterns",
        arguments: [
            ("*", "", true), ("", "", true), ("", "a", false), ("a*b*c", "axxbyyc", true), ("a*b*c", "axxbyy", false),
            ("?", "é", true), ("??", "é", false), ("\\\\*", "*", true), ("\\\\*", "x", false), ("\\\\?", "?", true),
            ("[a]", "[a]", true), ("*é*", "caféx", true), ("\\xFF?", "\u{FFFD}a", false), ("a/*", "a/b/c", true),
        ])
    func patterns(pattern: String, name: String, matches: Bool) throws {
        let query = try QueryMatcher(QueryPredicate(parsing: "name LIKE '\(pattern)'"))
        #expect(query.matches { $0 == .name ? .text(name) : nil } == matches)
    }

    @Test("letters of any script are compared without their case, and only where it is asked for")
    func foldedCase() throws {
        let query = try QueryMatcher(QueryPredicate(parsing: "name LIKE[c] 'ÉTÉ*' OR name =[c] 'СЛОВО'"))
        for name in ["été.txt", "Été", "слово", "Слово"] { #expect(query.matches { _ in .text(name) }) }
        #expect(!query.matches { _ in .text("ete") })
    }

    @Test("names that are no text are asked for byte by byte")
    func bytes() throws {
        let name = QueryValue.text([0x61, 0xFF, 0xFE, 0x2E, 0x6F])
        for query in ["name = 'a\\xff\\xFE.o'", "name LIKE 'a??.o'", "name LIKE '*\\xFE.o'", "name LIKE[c] 'A\\xff*'"] {
            #expect(try QueryMatcher(QueryPredicate(parsing: query)).matches { _ in name }, "\(query)")
        }
        #expect(try !QueryMatcher(QueryPredicate(parsing: "name LIKE 'a?.o'")).matches { _ in name })
        let bare = try QueryPredicate(parsing: Array("name = a".utf8) + [0xFF, 0xFE] + Array(".o".utf8))
        #expect(QueryMatcher(bare).matches { _ in name })
    }

    @Test("many stars cost no exponential time")
    func stars() throws {
        let query = try QueryMatcher(QueryPredicate(parsing: "name LIKE '\(String(repeating: "*a", count: 100))b'"))
        #expect(!query.matches { _ in .text(String(repeating: "a", count: 1000)) })
    }

    @Test(
        "a wrong query is told where it is wrong, and what was expected",
        arguments: [
            ("nam = 1", 1, "nam", "expected an attribute"), ("name LIK 'x'", 6, "LIK", "expected =, !="),
            ("name", 0, "", "expected =, !="), ("name = ", 0, "", "expected a text"),
            ("size > many", 8, "many", "expected a whole number"), ("size LIKE '1*'", 6, "LIKE", "LIKE is for texts"),
            ("type = folder", 8, "folder", "expected file, directory"), ("type < file", 6, "<", "with = and != alone"),
            ("modified > soon", 12, "soon", "expected a time"), ("(name = a", 0, "", "expected AND, OR or )"),
            ("name = a b", 10, "b", "expected AND, OR or the end"), ("name = 'a", 8, "'a", "expected ' at the end"),
            ("name = 'a\\q'", 10, "\\q", "no such escape"), ("name LIKE '\\*'", 12, "\\*", "a star itself"),
            ("name = 'é' ;; x", 12, ";;", "expected AND, OR or the end"), ("name IN 'a'", 9, "'a'", "expected ("),
            ("name NOT = 'a'", 10, "=", "expected LIKE, IN or WITHIN"),
            ("size within 3", 6, "within", "WITHIN is for times"),
            ("modified within many", 17, "many", "expected a time"), ("name = AND", 8, "AND", "expected a text"),
            ("size = 9223372036854775807KiB", 8, "9223372036854775807KiB", "expected a whole number"),
            ("name = 'x\\xg0'", 10, "\\xg0", "two hex digits"), ("name @ 'x'", 6, "@", "expected =, !="),
            ("name & 'x'", 6, "&", "this sign means nothing"),
            ("name LIKE 'a\\\\'", 11, "'a\\\\'", "ends in a backslash"),
        ])
    func errors(query: String, character: Int, found: String, message: String) {
        do {
            _ = try QueryPredicate(parsing: query)
            Issue.record("\(query) was read")
        } catch {
            #expect(found.isEmpty ? error.found.isEmpty : error.character == character, "\(query): \(error.character)")
            #expect(error.found == found && "\(error)".contains(message), "\(query): \(error)")
        }
    }

    @Test("what is too deep or too long is refused")
    func limits() {
        let deep = String(repeating: "(", count: 65) + "TRUE" + String(repeating: ")", count: 65)
        #expect(throws: QuerySyntaxError.self) { try QueryPredicate(parsing: deep) }
        let nots = String(repeating: "NOT ", count: 100_000) + "TRUE"
        #expect(throws: QuerySyntaxError.self) { try QueryPredicate(parsing: nots) }
        let long = "name = '" + String(repeating: "x", count: QueryPredicate.textLimit) + "'"
        #expect(throws: QuerySyntaxError.self) { try QueryPredicate(parsing: long) }
        #expect(throws: Never.self) {
            try QueryPredicate(parsing: String(repeating: "(", count: 60) + "TRUE" + String(repeating: ")", count: 60))
        }
    }
}
