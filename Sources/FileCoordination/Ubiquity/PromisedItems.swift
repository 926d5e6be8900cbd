// The calls for items that may be on other devices. On one device all items are local.

import Foundation

extension URL {
    /// Whether the item exists, even without local content. On one device the content is always local.
    public func checkPromisedItemIsReachable() throws -> Bool { try checkResourceIsReachable() }

    /// The present values of some resource keys, including those that `resourceValues(forKeys:)` lacks outside of
    /// Apple's systems. For a symbolic link, the link's own values.
    /// - Throws: an error if the item does not exist.
    public func promisedItemResourceValues(forKeys keys: Set<URLResourceKey>) throws -> PromisedItemResourceValues {
        let known = try ItemFacts(self).values(of: keys.intersection(ItemFacts.keys))
        let others = keys.subtracting(ItemFacts.keys)
        let foundation = others.isEmpty ? URLResourceValues() : try resourceValues(forKeys: others)
        return PromisedItemResourceValues(foundation, known)
    }
}

extension NSURL {
    /// Whether the item exists, even without local content. On one device the content is always local.
    /// - Parameter error: gets the reason if the result is false.
    public func checkPromisedItemIsReachableAndReturnError(_ error: NSErrorPointer) -> Bool {
        do {
            return try checkResourceIsReachable()
        } catch let reason {
            error?.pointee = reason as NSError
            return false
        }
    }

    /// The present values of some resource keys, without values that the item lacks.
    /// - Throws: an error if the item does not exist.
    public func promisedItemResourceValues(forKeys keys: [URLResourceKey]) throws -> [URLResourceKey: Any] {
        guard let url = URL(string: absoluteString) else { throw CocoaError(.fileReadUnsupportedScheme) }
        return try url.promisedItemResourceValues(forKeys: Set(keys)).allValues
    }

    /// The present value of one resource key; nil if the item has none.
    /// - Throws: an error if the item does not exist.
    public func getPromisedItemResourceValue(_ value: inout AnyObject?, forKey key: URLResourceKey) throws {
        switch try promisedItemResourceValues(forKeys: [key])[key] {
        case let flag as Bool where ItemFacts.keys.contains(key): value = NSNumber(value: flag)
        case let number as Int where ItemFacts.keys.contains(key): value = NSNumber(value: number)
        case let text as String where ItemFacts.keys.contains(key): value = NSString(string: text)
        case let status as URLUbiquitousItemDownloadingStatus: value = NSString(string: status.rawValue)
        case let other: value = other.map { $0 as AnyObject }
        }
    }
}
