// The predicate of a query: comparisons of attributes, joined by AND, OR and NOT. Values without I/O.

import VersionModel

/// A condition on an entry of the tree.
///
///     let predicate = try QueryPredicate(parsing: #"name LIKE "*.sicd" AND conflicts > 0"#)
///     let same = QueryPredicate.and([.like(.name, "*.sicd"), .comparison(.conflicts, .greater, .number(0))])
public indirect enum QueryPredicate: Hashable, Sendable {
    /// `TRUE` or `FALSE`.
    case always(Bool)
    case test(QueryTest)
    /// All of them.
    case and([QueryPredicate])
    /// At least one of them.
    case or([QueryPredicate])
    case not(QueryPredicate)

    /// Compares an attribute with a value.
    public static func comparison(
        _ attribute: QueryAttribute, _ relation: QueryTest.Relation, _ value: QueryValue, ignoringCase: Bool = false
    ) -> QueryPredicate {
        .test(QueryTest(attribute, .compare(relation, value), ignoresCase: ignoringCase))
    }

    /// Whether an attribute matches a pattern: `*` stands for any characters, `?` for one, `\` makes the next character
    /// literal.
    public static func like(
        _ attribute: QueryAttribute, _ pattern: String, ignoringCase: Bool = false
    ) -> QueryPredicate {
        .test(QueryTest(attribute, .like(Array(pattern.utf8)), ignoresCase: ignoringCase))
    }

    /// Whether an attribute equals one of several values.
    public static func isOne(
        _ attribute: QueryAttribute, of values: [QueryValue], ignoringCase: Bool = false
    ) -> QueryPredicate {
        .test(QueryTest(attribute, .oneOf(values), ignoresCase: ignoringCase))
    }
}

/// One test of one attribute.
public struct QueryTest: Hashable, Sendable {
    /// A comparison of two values.
    public enum Relation: String, Hashable, Sendable, CaseIterable {
        case equal = "="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }

    /// The test.
    public enum Question: Hashable, Sendable {
        case compare(Relation, QueryValue)
        /// A pattern, as bytes.
        case like([UInt8])
        case oneOf([QueryValue])
    }

    public var attribute: QueryAttribute
    public var question: Question
    /// Whether the test ignores case.
    public var ignoresCase: Bool

    public init(_ attribute: QueryAttribute, _ question: Question, ignoresCase: Bool = false) {
        self.attribute = attribute
        self.question = question
        self.ignoresCase = ignoresCase
    }
}

/// A value in a query, or of an entry.
public enum QueryValue: Hashable, Sendable {
    /// Bytes, because names need not be UTF-8.
    case text([UInt8])
    case number(Int64)
    case moment(Timestamp)

    /// A text.
    public static func text(_ text: String) -> QueryValue { .text(Array(text.utf8)) }
}
