// Parses the text of a query to a predicate: a descent through OR, AND, NOT and comparisons.

import VersionModel

extension QueryPredicate {
    /// The longest text of a query, in bytes.
    public static let textLimit = 65_536
    /// The deepest nesting of parentheses and NOTs.
    public static let depthLimit = 64

    /// Reads a query.
    /// - Parameters:
    ///   - text: bytes, because names in it need not be UTF-8. A text without words matches every entry.
    ///   - moment: reads a time; by default only RFC 3339.
    /// - Throws: the place of the error, and the expected words.
    public init(
        parsing text: [UInt8], moment: (String) -> Timestamp? = { Timestamp(rfc3339: $0) }
    ) throws(QuerySyntaxError) {
        guard text.count <= Self.textLimit else {
            throw QuerySyntaxError(
                "a query has at most \(Self.textLimit) bytes", at: Self.textLimit, found: text[Self.textLimit...],
                in: text)
        }
        self = try withoutActuallyEscaping(moment) { moment throws(QuerySyntaxError) in
            var parser = try QueryParser(text, moment)
            return try parser.query()
        }
    }

    /// Reads a query.
    public init(
        parsing text: String, moment: (String) -> Timestamp? = { Timestamp(rfc3339: $0) }
    ) throws(QuerySyntaxError) {
        try self.init(parsing: Array(text.utf8), moment: moment)
    }
}

/// Reads one query.
struct QueryParser {
    private var scanner: QueryScanner
    private(set) var token: QueryToken
    let moment: (String) -> Timestamp?

    init(_ text: [UInt8], _ moment: @escaping (String) -> Timestamp?) throws(QuerySyntaxError) {
        scanner = QueryScanner(text)
        token = try scanner.next()
        self.moment = moment
    }

    mutating func query() throws(QuerySyntaxError) -> QueryPredicate {
        guard token.kind != .end else { return .always(true) }
        let predicate = try alternatives(depth: 0)
        guard token.kind == .end else { throw unexpected("expected AND, OR or the end") }
        return predicate
    }

    private mutating func alternatives(depth: Int) throws(QuerySyntaxError) -> QueryPredicate {
        var parts = [try conjunction(depth: depth)]
        while try take(keyword: "OR", sign: "||") { parts.append(try conjunction(depth: depth)) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction(depth: Int) throws(QuerySyntaxError) -> QueryPredicate {
        var parts = [try condition(depth: depth)]
        while try take(keyword: "AND", sign: "&&") { parts.append(try condition(depth: depth)) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func condition(depth: Int) throws(QuerySyntaxError) -> QueryPredicate {
        guard depth < QueryPredicate.depthLimit else {
            throw unexpected("more than \(QueryPredicate.depthLimit) parentheses and NOTs in one another")
        }
        if try take(keyword: "NOT", sign: "!") { return .not(try condition(depth: depth + 1)) }
        if try take(sign: "(") {
            let inner = try alternatives(depth: depth + 1)
            guard try take(sign: ")") else { throw unexpected("expected AND, OR or )") }
            return inner
        }
        if try take(keyword: "TRUE") { return .always(true) }
        if try take(keyword: "FALSE") { return .always(false) }
        return try test()
    }

    private mutating func test() throws(QuerySyntaxError) -> QueryPredicate {
        guard token.kind == .word, let attribute = QueryAttribute(word: token.text) else {
            let names = QueryAttribute.allCases.map(\.rawValue).joined(separator: ", ")
            throw unexpected("expected an attribute (\(names))")
        }
        try advance()
        if try take(keyword: "NOT") {
            guard isKeyword("LIKE") || isKeyword("IN") || isKeyword("WITHIN") else {
                throw unexpected("expected LIKE, IN or WITHIN")
            }
            return .not(try test(of: attribute))
        }
        return try test(of: attribute)
    }

    private mutating func test(of attribute: QueryAttribute) throws(QuerySyntaxError) -> QueryPredicate {
        if isKeyword("LIKE") {
            guard attribute.kind == .text else {
                throw unexpected("LIKE is for texts, and \(attribute.rawValue) is none")
            }
            try advance()
            let ignoresCase = try take(sign: "[c]")
            return .test(QueryTest(attribute, .like(try pattern()), ignoresCase: ignoresCase))
        }
        if isKeyword("IN") {
            try advance()
            let ignoresCase = try caseOption(attribute)
            return .test(QueryTest(attribute, .oneOf(try list(of: attribute)), ignoresCase: ignoresCase))
        }
        if isKeyword("WITHIN") {
            guard attribute.kind == .moment else {
                throw unexpected("WITHIN is for times, and \(attribute.rawValue) is none")
            }
            try advance()
            return .comparison(attribute, .greaterOrEqual, try value(of: attribute), ignoringCase: false)
        }
        guard case .sign(let sign) = token.kind, let relation = QueryTest.Relation(rawValue: sign) else {
            throw unexpected("expected =, !=, <, <=, >, >=, LIKE, NOT LIKE, IN, NOT IN, WITHIN or NOT WITHIN")
        }
        if case .word = attribute.kind, relation != .equal, relation != .notEqual {
            throw unexpected("\(attribute.rawValue) is compared with = and != alone")
        }
        try advance()
        let ignoresCase = relation == .equal || relation == .notEqual ? try caseOption(attribute) : false
        return .comparison(attribute, relation, try value(of: attribute), ignoringCase: ignoresCase)
    }

    private mutating func caseOption(_ attribute: QueryAttribute) throws(QuerySyntaxError) -> Bool {
        guard attribute.kind == .text else { return false }
        return try take(sign: "[c]")
    }

    private mutating func list(of attribute: QueryAttribute) throws(QuerySyntaxError) -> [QueryValue] {
        guard try take(sign: "(") else { throw unexpected("expected ( and values between commas") }
        var values: [QueryValue] = []
        if try take(sign: ")") { return values }
        repeat { values.append(try value(of: attribute)) } while try take(sign: ",")
        guard try take(sign: ")") else { throw unexpected("expected , or )") }
        return values
    }

    // MARK: Tokens

    mutating func advance() throws(QuerySyntaxError) { token = try scanner.next() }

    /// Puts a taken token back, so that an error names its place.
    mutating func put(back token: QueryToken) { self.token = token }

    func unexpected(_ message: String) -> QuerySyntaxError {
        scanner.error(message, token.source.startIndex, token.source)
    }

    private func isKeyword(_ keyword: String) -> Bool { token.kind == .word && token.text.uppercased() == keyword }

    private mutating func take(keyword: String, sign: String? = nil) throws(QuerySyntaxError) -> Bool {
        if let sign, try take(sign: sign) { return true }
        guard isKeyword(keyword) else { return false }
        try advance()
        return true
    }

    private mutating func take(sign: String) throws(QuerySyntaxError) -> Bool {
        guard token.kind == .sign(sign) else { return false }
        try advance()
        return true
    }
}
