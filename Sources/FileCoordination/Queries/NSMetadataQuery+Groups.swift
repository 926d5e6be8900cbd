// Results by their values: the values of an attribute, and the results for each.

import Foundation

extension NSMetadataQuery {
    /// The attributes whose values ``valueLists`` counts.
    public var valueListAttributes: [String] {
        get { settings.withLock { $0.valueListAttributes } }
        set { settings.withLock { $0.valueListAttributes = newValue } }
    }

    /// The values of the results for each of the ``valueListAttributes``, in the order of the results, with their
    /// counts.
    public var valueLists: [String: [NSMetadataQueryAttributeValueTuple]] {
        let items = results.compactMap { $0 as? NSMetadataItem }
        let lists = valueListAttributes.map { attribute in
            let groups = NSMetadataQueryResultGroup.groups(of: items, by: [attribute])
            return (attribute, groups.map { NSMetadataQueryAttributeValueTuple(of: $0) })
        }
        return Dictionary(lists) { first, _ in first }
    }

    /// The attributes for ``groupedResults``: by the first attribute, then by the second, and so on.
    public var groupingAttributes: [String]? {
        get { settings.withLock { $0.groupingAttributes } }
        set { settings.withLock { $0.groupingAttributes = newValue } }
    }

    /// The results grouped by the ``groupingAttributes``; empty without attributes. Computed at each call; later
    /// changes do not affect it.
    public var groupedResults: [NSMetadataQueryResultGroup] {
        NSMetadataQueryResultGroup.groups(
            of: results.compactMap { $0 as? NSMetadataItem }, by: groupingAttributes?[...] ?? [])
    }
}

/// A value of an attribute that some results have.
public final class NSMetadataQueryAttributeValueTuple: NSObject, @unchecked Sendable {
    /// The attribute.
    public let attribute: String
    /// The value; nil for results without one.
    public let value: Any?
    /// The number of results with this value.
    public let count: Int

    fileprivate init(of group: NSMetadataQueryResultGroup) {
        attribute = group.attribute
        value = group.value is NSNull ? nil : group.value
        count = group.resultCount
        super.init()
    }
}

/// The results with the same value of an attribute.
public final class NSMetadataQueryResultGroup: NSObject, @unchecked Sendable {
    /// The attribute.
    public let attribute: String
    /// The common value; an `NSNull` for results without one.
    public let value: Any
    /// The same results grouped by the remaining attributes; nil without further attributes.
    public let subgroups: [NSMetadataQueryResultGroup]?
    private let items: [NSMetadataItem]

    private init(_ attribute: String, _ value: Any, _ items: [NSMetadataItem], _ rest: ArraySlice<String>) {
        (self.attribute, self.value, self.items) = (attribute, value, items)
        subgroups = rest.isEmpty ? nil : Self.groups(of: items, by: rest)
        super.init()
    }

    /// The results, in the order of the query.
    public var results: [Any] { items }
    /// The number of results.
    public var resultCount: Int { items.count }
    /// The result at an index, which must be valid.
    public func result(at index: Int) -> Any { items[index] }

    fileprivate static func groups(
        of items: [NSMetadataItem], by attributes: ArraySlice<String>
    ) -> [NSMetadataQueryResultGroup] {
        guard let attribute = attributes.first else { return [] }
        var places: [String: Int] = [:]
        var groups: [(value: Any, items: [NSMetadataItem])] = []
        for item in items {
            let value = item.value(forAttribute: attribute)
            // All values of an attribute have one type, so their texts distinguish them.
            let key = (value as? Date).map { "\($0.timeIntervalSince1970)" } ?? value.map { "=\($0)" } ?? ""
            if let place = places[key] {
                groups[place].items.append(item)
            } else {
                places[key] = groups.count
                groups.append((value ?? NSNull(), [item]))
            }
        }
        return groups.map { NSMetadataQueryResultGroup(attribute, $0.value, $0.items, attributes.dropFirst()) }
    }
}
