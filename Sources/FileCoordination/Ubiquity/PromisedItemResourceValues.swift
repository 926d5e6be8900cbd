// The values of an item's resource keys, including those that Foundation lacks outside of Apple's systems.

import Foundation

/// The values of an item's resource keys, with the names of `URLResourceValues`.
///
/// Outside of Apple's systems, Foundation's own type returns nil for identity, generations and containers, and cannot
/// be extended with values. This type has these values, and passes the others through:
///
///     let values = try url.promisedItemResourceValues(forKeys: [.nameKey, .generationIdentifierKey])
///     if shown.isEqual(values.generationIdentifier) { return values.name }
///
/// It has only the values of the requested keys.
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

    /// The values that Foundation provides: names, sizes, dates and the like.
    public subscript<Value>(dynamicMember path: KeyPath<URLResourceValues, Value>) -> Value {
        foundation[keyPath: path]
    }

    private func value<Value>(_ key: URLResourceKey) -> Value? { known[key] as? Value }

    /// An archivable object that stays equal, by `isEqual`, as long as the content does. It changes with each change of
    /// a file's content, or of a directory's own entries. It does not change with permissions and extended attributes.
    public var generationIdentifier: (any NSCopying & NSSecureCoding & NSObjectProtocol)? {
        let identifier: NSString? = value(.generationIdentifierKey)
        return identifier
    }

    /// A number that identifies a document in its container. It stays the same after moves and saves of any kind. A
    /// copy has another number. Nil outside of containers.
    public var documentIdentifier: Int? { value(.documentIdentifierKey) }

    /// Whether the item is in a mounted container.
    public var isUbiquitousItem: Bool? { value(.isUbiquitousItemKey) }

    /// Whether the item has an unresolved conflict; for a directory, whether a document directly in it has
    /// some.
    public var ubiquitousItemHasUnresolvedConflicts: Bool? { value(.ubiquitousItemHasUnresolvedConflictsKey) }

    /// The place of the content: always local on one device.
    public var ubiquitousItemDownloadingStatus: URLUbiquitousItemDownloadingStatus? {
        value(.ubiquitousItemDownloadingStatusKey)
    }

    /// Whether a download is running.
    public var ubiquitousItemIsDownloading: Bool? { value(.ubiquitousItemIsDownloadingKey) }

    /// Whether a download has been requested.
    public var ubiquitousItemDownloadRequested: Bool? { value(.ubiquitousItemDownloadRequestedKey) }

    /// Whether the content is also on other devices: never on one device.
    public var ubiquitousItemIsUploaded: Bool? { value(.ubiquitousItemIsUploadedKey) }

    /// Whether an upload is running.
    public var ubiquitousItemIsUploading: Bool? { value(.ubiquitousItemIsUploadingKey) }

    /// The error of the last download: none on one device.
    public var ubiquitousItemDownloadingError: NSError? { nil }

    /// The error of the last upload: none on one device.
    public var ubiquitousItemUploadingError: NSError? { nil }

    /// The name of the container's directory.
    public var ubiquitousItemContainerDisplayName: String? { value(.ubiquitousItemContainerDisplayNameKey) }
}

/// The place of an item's content.
public struct URLUbiquitousItemDownloadingStatus: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The content is on another device only.
    public static let notDownloaded = Self(rawValue: "NSURLUbiquitousItemDownloadingStatusNotDownloaded")
    /// An older content is local.
    public static let downloaded = Self(rawValue: "NSURLUbiquitousItemDownloadingStatusDownloaded")
    /// The content is local.
    public static let current = Self(rawValue: "NSURLUbiquitousItemDownloadingStatusCurrent")
}
