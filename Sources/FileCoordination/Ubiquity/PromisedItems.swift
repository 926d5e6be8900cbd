// The calls for items that may be elsewhere: on one device none is, and they tell what is here.

import Foundation

extension URL {
    /// Whether the item is there, whether or not its content is here: on one device it always is.
    public func checkPromisedItemIsReachable() throws -> Bool { try checkResourceIsReachable() }

    /// The values of some resource keys, as they are now, those included that `resourceValues(forKeys:)` leaves empty
    /// outside of Apple's systems. A symbolic link has its own.
    /// - Throws: if nothing is there.
    public func promisedItemResourceValues(forKeys keys: Set<URLResourceKey>) throws -> PromisedItemResourceValues {
        let known = try ItemFacts(self).values(of: keys.intersection(ItemFacts.keys))
        let others = keys.subtracting(ItemFacts.keys)
        let foundation = others.isEmpty ? URLResourceValues() : try resourceValues(forKeys: others)
        return PromisedItemResourceValues(foundation, known)
    }
}

extension NSURL {
    /// Whether the item is there, whether or not its content is here: on one device it always is.
    /// - Parameter error: gets why it is not.
    public func checkPromisedItemIsReachableAndReturnError(_ error: NSErrorPointer) -> Bool {
        do {
            return try checkResourceIsReachable()
        } catch let reason {
            error?.pointee = reason as NSError
            return false
        }
    }

    /// The values of some resource keys, as they are now, without those that the item has not got.
    /// - Throws: if nothing is there.
    public func promisedItemResourceValues(forKeys keys: [URLResourceKey]) throws -> [URLResourceKey: Any] {
        guard let url = URL(string: absoluteString) else { throw CocoaError(.fileReadUnsupportedScheme) }
        return try url.promisedItemResourceValues(forKeys: Set(keys)).allValues
    }

    /// The value of one resource key, as it is now; nil if the item has not got it.
    /// - Throws: if nothing is there.
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
