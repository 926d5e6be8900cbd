// The values of an item's resource keys, those included that Foundation outside of Apple's systems leaves empty.

import Foundation

/// The values of an item's resource keys, with the names that `URLResourceValues` has for them.
///
/// Foundation's own values answer nil outside of Apple's systems for whatever concerns identity, generations and
/// containers, and cannot be added to. This has these values, and hands the others through:
///
///     let values = try url.promisedItemResourceValues(forKeys: [.nameKey, .generationIdentifierKey])
///     if shown.isEqual(values.generationIdentifier) { return values.name }
///
/// Only the values of the keys that were asked for are there.
@dynamicMemberLookup
public struct PromisedItemResourceValues {
    private let foundation: URLResourceValues
    private let known: [URLResourceKey: Any]

    init(_ foundation: URLResourceValues, _ known: [URLResourceKey: Any]) {
        self.foundation = foundation
        self.known = known
    }

    /// All values by their keys.
    public var allValues: [URLResourceKey: Any] { foundation.allValues.merging(known) { $1 } }

    /// What Foundation knows by itself: names, sizes, dates and the like.
    public subscript<Value>(dynamicMember path: KeyPath<URLResourceValues, Value>) -> Value {
        foundation[keyPath: path]
    }

    private func value<Value>(_ key: URLResourceKey) -> Value? { known[key] as? Value }

    /// Something that is equal, by `isEqual`, as long as the content is the same, and can be archived. It is another
    /// one after each change of a file's content, or of a directory's own entries, and does not change with
    /// permissions and extended attributes.
    public var generationIdentifier: (any NSCopying & NSSecureCoding & NSObjectProtocol)? {
        let identifier: NSString? = value(.generationIdentifierKey)
        return identifier
    }

    /// A number that a document keeps while it is moved about in its container, and saved in whatever way. A copy has
    /// another one. Nil outside of containers.
    public var documentIdentifier: Int? { value(.documentIdentifierKey) }

    /// Whether the item lies in a container that is mounted.
    public var isUbiquitousItem: Bool? { value(.isUbiquitousItemKey) }

    /// Whether it has losers that nobody has resolved; of a directory whether a document right in it has.
    public var ubiquitousItemHasUnresolvedConflicts: Bool? { value(.ubiquitousItemHasUnresolvedConflictsKey) }

    /// Where the content is: on one device always here.
    public var ubiquitousItemDownloadingStatus: URLUbiquitousItemDownloadingStatus? {
        value(.ubiquitousItemDownloadingStatusKey)
    }

    /// Whether the content is being fetched.
    public var ubiquitousItemIsDownloading: Bool? { value(.ubiquitousItemIsDownloadingKey) }

    /// Whether it has been asked for.
    public var ubiquitousItemDownloadRequested: Bool? { value(.ubiquitousItemDownloadRequestedKey) }

    /// Whether the content is elsewhere as well: on one device never.
    public var ubiquitousItemIsUploaded: Bool? { value(.ubiquitousItemIsUploadedKey) }

    /// Whether the content is being sent.
    public var ubiquitousItemIsUploading: Bool? { value(.ubiquitousItemIsUploadingKey) }

    /// Why the content could not be fetched: on one device there is nothing to fetch.
    public var ubiquitousItemDownloadingError: NSError? { nil }

    /// Why the content could not be sent: on one device there is nowhere to send it.
    public var ubiquitousItemUploadingError: NSError? { nil }

    /// The name of the container's directory.
    public var ubiquitousItemContainerDisplayName: String? { value(.ubiquitousItemContainerDisplayNameKey) }
}

/// Where an item's content is.
public struct URLUbiquitousItemDownloadingStatus: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The content is elsewhere.
    public static let notDownloaded = Self(rawValue: "NSURLUbiquitousItemDownloadingStatusNotDownloaded")
    /// An older content is here.
    public static let downloaded = Self(rawValue: "NSURLUbiquitousItemDownloadingStatusDownloaded")
    /// The content is here.
    public static let current = Self(rawValue: "NSURLUbiquitousItemDownloadingStatusCurrent")
}
