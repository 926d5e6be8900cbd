// Results by their values: which values there are, and what has each.

import Foundation

extension NSMetadataQuery {
    /// The attributes whose values ``valueLists`` counts.
    public var valueListAttributes: [String] {
        get { settings.withLock { $0.valueListAttributes } }
        set { settings.withLock { $0.valueListAttributes = newValue } }
    }

    /// Which values the results have of each of the ``valueListAttributes``, in the order of the results, and how many
    /// have it.
    public var valueLists: [String: [NSMetadataQueryAttributeValueTuple]] {
        let items = results.compactMap { $0 as? NSMetadataItem }
        let lists = valueListAttributes.map { attribute in
            let groups = NSMetadataQueryResultGroup.groups(of: items, by: [attribute])
            return (attribute, groups.map { NSMetadataQueryAttributeValueTuple(of: $0) })
        }
        return Dictionary(lists) { first, _ in first }
    }

    /// What ``groupedResults`` are grouped by: by the first attribute, within that by the second, and so on.
    public var groupingAttributes: [String]? {
        get { settings.withLock { $0.groupingAttributes } }
        set { settings.withLock { $0.groupingAttributes = newValue } }
    }

    /// The results by the values that they have of the ``groupingAttributes``; none without any. Made when it is asked
    /// for, and not changed afterwards.
    public var groupedResults: [NSMetadataQueryResultGroup] {
        NSMetadataQueryResultGroup.groups(
            of: results.compactMap { $0 as? NSMetadataItem }, by: groupingAttributes?[...] ?? [])
    }
}

/// A value that some results of a query have of an attribute.
public final class NSMetadataQueryAttributeValueTuple: NSObject, @unchecked Sendable {
    /// The attribute.
    public let attribute: String
    /// The value; nil for those that have none.
    public let value: Any?
    /// How many results have it.
    public let count: Int

    fileprivate init(of group: NSMetadataQueryResultGroup) {
        attribute = group.attribute
        value = group.value is NSNull ? nil : group.value
        count = group.resultCount
        super.init()
    }
}

/// The results of a query that have one value of an attribute.
public final class NSMetadataQueryResultGroup: NSObject, @unchecked Sendable {
    /// The attribute.
    public let attribute: String
    /// The value that all have; an `NSNull` if they have none.
    public let value: Any
    /// The same results by the attributes that follow; nil if none does.
    public let subgroups: [NSMetadataQueryResultGroup]?
    private let items: [NSMetadataItem]

    private init(_ attribute: String, _ value: Any, _ items: [NSMetadataItem], _ rest: ArraySlice<String>) {
        (self.attribute, self.value, self.items) = (attribute, value, items)
        subgroups = rest.isEmpty ? nil : Self.groups(of: items, by: rest)
        super.init()
    }

    /// The results, in the order of the query.
    public var results: [Any] { items }
    /// How many there are.
    public var resultCount: Int { items.count }
    /// The result at a place, which must be one.
    public func result(at index: Int) -> Any { items[index] }

    fileprivate static func groups(
        of items: [NSMetadataItem], by attributes: ArraySlice<String>
    ) -> [NSMetadataQueryResultGroup] {
        guard let attribute = attributes.first else { return [] }
        var places: [String: Int] = [:]
        var groups: [(value: Any, items: [NSMetadataItem])] = []
        for item in items {
            let value = item.value(forAttribute: attribute)
            // All values of an attribute are of one kind, so their texts tell them apart.
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
