// Evaluates a predicate for an entry. A missing attribute equals no value, and is less than none.

import VersionModel

/// A predicate that is prepared for many evaluations.
public struct QueryMatcher: Sendable {
    private indirect enum Node: Sendable {
        case always(Bool)
        case compare(QueryAttribute, QueryTest.Relation, QueryValue, ignoresCase: Bool)
        case like(QueryAttribute, TextPattern)
        case oneOf(QueryAttribute, Set<QueryValue>, ignoresCase: Bool)
        case and([Node])
        case or([Node])
        case not(Node)
    }

    private let root: Node

    public init(_ predicate: QueryPredicate) { root = Self.node(predicate) }

    /// - Parameter value: the entry's value of an attribute; nil if it has none.
    public func matches(_ value: (QueryAttribute) -> QueryValue?) -> Bool { Self.matches(root, value) }

    private static func node(_ predicate: QueryPredicate) -> Node {
        switch predicate {
        case .always(let answer): .always(answer)
        case .and(let parts): .and(parts.map { node($0) })
        case .or(let parts): .or(parts.map { node($0) })
        case .not(let part): .not(node(part))
        case .test(let test): node(test)
        }
    }

    private static func node(_ test: QueryTest) -> Node {
        switch test.question {
        case .compare(let relation, let value):
            .compare(test.attribute, relation, folded(value, test.ignoresCase), ignoresCase: test.ignoresCase)
        case .like(let pattern): .like(test.attribute, TextPattern(pattern, ignoresCase: test.ignoresCase))
        case .oneOf(let values):
            .oneOf(test.attribute, Set(values.map { folded($0, test.ignoresCase) }), ignoresCase: test.ignoresCase)
        }
    }

    private static func matches(_ node: Node, _ value: (QueryAttribute) -> QueryValue?) -> Bool {
        switch node {
        case .always(let answer): answer
        case .and(let parts): parts.allSatisfy { matches($0, value) }
        case .or(let parts): parts.contains { matches($0, value) }
        case .not(let part): !matches(part, value)
        case .like(let attribute, let pattern):
            if case .text(let text)? = value(attribute) { pattern.matches(text) } else { false }
        case .oneOf(let attribute, let values, let ignoresCase):
            value(attribute).map { values.contains(folded($0, ignoresCase)) } ?? false
        case .compare(let attribute, let relation, let other, let ignoresCase):
            compare(value(attribute).map { folded($0, ignoresCase) }, relation, other)
        }
    }

    private static func compare(_ own: QueryValue?, _ relation: QueryTest.Relation, _ other: QueryValue) -> Bool {
        guard let own, let order = order(own, other) else { return relation == .notEqual }
        return switch relation {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }

    /// Nil for values of different kinds.
    private static func order(_ left: QueryValue, _ right: QueryValue) -> Int? {
        switch (left, right) {
        case (.text(let left), .text(let right)):
            left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        case (.number(let left), .number(let right)): left == right ? 0 : left < right ? -1 : 1
        case (.moment(let left), .moment(let right)): left == right ? 0 : left < right ? -1 : 1
        default: nil
        }
    }

    /// A text whose letters have one case, if case is to be ignored.
    private static func folded(_ value: QueryValue, _ ignoresCase: Bool) -> QueryValue {
        guard ignoresCase, case .text(let bytes) = value else { return value }
        if bytes.allSatisfy({ $0 < 128 }) { return .text(bytes.map { (65...90).contains($0) ? $0 | 32 : $0 }) }
        // Units may exceed a byte: four bytes for each keep different texts different.
        return .text(TextUnits.units(of: bytes, ignoringCase: true).flatMap { unit in
            unit < 128 ? [UInt8(unit)] : [0xFF, UInt8(unit >> 16 & 255), UInt8(unit >> 8 & 255), UInt8(unit & 255)]
        })
    }
}
