// The names of metadata queries: notifications, scopes and attributes, with Apple's spelling.

@_exported import QueryLanguage
import Foundation

/// The predicate of an ``NSMetadataQuery``. `NSPredicate` has no formats outside of Apple's systems. This type has its
/// own language, described in `docs/query.md`, and `init(format:_:)` for formats like those of `NSPredicate`.
public typealias NSMetadataPredicate = QueryPredicate

extension NSNotification.Name {
    /// A query has begun to gather its first set of results.
    public static let NSMetadataQueryDidStartGathering = NSNotification.Name(
        "NSMetadataQueryDidStartGatheringNotification")
    /// The first set has more results.
    public static let NSMetadataQueryGatheringProgress = NSNotification.Name(
        "NSMetadataQueryGatheringProgressNotification")
    /// The first set is complete.
    public static let NSMetadataQueryDidFinishGathering = NSNotification.Name(
        "NSMetadataQueryDidFinishGatheringNotification")
    /// Results have changed since then: the notification lists them.
    public static let NSMetadataQueryDidUpdate = NSNotification.Name("NSMetadataQueryDidUpdateNotification")
    /// The user's containers have changed to another user's. Never posted: a process has one user.
    public static let NSUbiquityIdentityDidChange = NSNotification.Name("NSUbiquityIdentityDidChangeNotification")
}

/// The results that were added, in a notification's `userInfo`.
public let NSMetadataQueryUpdateAddedItemsKey = "kMDQueryUpdateAddedItems"
/// The results that have changed.
public let NSMetadataQueryUpdateChangedItemsKey = "kMDQueryUpdateChangedItems"
/// The items that are no longer results.
public let NSMetadataQueryUpdateRemovedItemsKey = "kMDQueryUpdateRemovedItems"

/// Items in the document scope of the container (`scopes.documents`).
public let NSMetadataQueryUbiquitousDocumentsScope = "NSMetadataQueryUbiquitousDocumentsScope"
/// Items in the container outside of its document scope.
public let NSMetadataQueryUbiquitousDataScope = "NSMetadataQueryUbiquitousDataScope"
/// Documents of other containers that were opened here. There are none.
public let NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope =
    "NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope"

/// Containers that are mounted at or below the user's home directory, or that contain it.
public let NSMetadataQueryUserHomeScope = "kMDQueryScopeHome"
/// All mounted containers that this user may enter.
public let NSMetadataQueryLocalComputerScope = "kMDQueryScopeComputer"
/// The same scope: this computer has no other indexed files.
public let NSMetadataQueryIndexedLocalComputerScope = "kMDQueryScopeComputerIndexed"
/// Other computers' volumes. None is indexed.
public let NSMetadataQueryNetworkScope = "kMDQueryScopeNetwork"
/// The same scope.
public let NSMetadataQueryIndexedNetworkScope = "kMDQueryScopeNetworkIndexed"

/// The name, as `String`.
public let NSMetadataItemFSNameKey = "kMDItemFSName"
/// The displayed name, which is the same.
public let NSMetadataItemDisplayNameKey = "kMDItemDisplayName"
/// The item's place, as `URL`.
public let NSMetadataItemURLKey = "kMDItemURL"
/// The item's place, as `String`.
public let NSMetadataItemPathKey = "kMDItemPath"
/// The size in bytes, as `NSNumber`.
public let NSMetadataItemFSSizeKey = "kMDItemFSSize"
/// The time of the last change of the content, as `Date`.
public let NSMetadataItemFSContentChangeDateKey = "kMDItemFSContentChangeDate"
/// The creation time of the file, as `Date`. No item has it: not every Linux file system keeps it.
public let NSMetadataItemFSCreationDateKey = "kMDItemFSCreationDate"
/// `public.folder`, `public.symlink` or `public.data`.
public let NSMetadataItemContentTypeKey = "kMDItemContentType"
/// The user that saved the current version, as `[String]`.
public let NSMetadataItemAuthorsKey = "kMDItemAuthors"
/// The program that saved the current version.
public let NSMetadataItemCreatorKey = "kMDItemCreator"
/// Whether the item is in a container, as `NSNumber`.
public let NSMetadataItemIsUbiquitousKey = "NSMetadataItemIsUbiquitousKey"
/// Whether the item has an unresolved conflict, as `NSNumber`.
public let NSMetadataUbiquitousItemHasUnresolvedConflictsKey = "NSMetadataUbiquitousItemHasUnresolvedConflictsKey"
/// The download state: one of the constants below.
public let NSMetadataUbiquitousItemDownloadingStatusKey = "NSMetadataUbiquitousItemDownloadingStatusKey"
/// The content is elsewhere.
public let NSMetadataUbiquitousItemDownloadingStatusNotDownloaded =
    "NSMetadataUbiquitousItemDownloadingStatusNotDownloaded"
/// An older content is here.
public let NSMetadataUbiquitousItemDownloadingStatusDownloaded = "NSMetadataUbiquitousItemDownloadingStatusDownloaded"
/// The content is here.
public let NSMetadataUbiquitousItemDownloadingStatusCurrent = "NSMetadataUbiquitousItemDownloadingStatusCurrent"
/// Whether the content is being fetched, as `NSNumber`.
public let NSMetadataUbiquitousItemIsDownloadingKey = "NSMetadataUbiquitousItemIsDownloadingKey"
/// Whether a download has been requested, as `NSNumber`.
public let NSMetadataUbiquitousItemDownloadRequestedKey = "NSMetadataUbiquitousItemDownloadRequestedKey"
/// Whether the content is being sent, as `NSNumber`.
public let NSMetadataUbiquitousItemIsUploadingKey = "NSMetadataUbiquitousItemIsUploadingKey"
/// Whether the content is also on other devices, as `NSNumber`: never on one device.
public let NSMetadataUbiquitousItemIsUploadedKey = "NSMetadataUbiquitousItemIsUploadedKey"
/// The error of the last download, as `NSError`: no item has one on one device.
public let NSMetadataUbiquitousItemDownloadingErrorKey = "NSMetadataUbiquitousItemDownloadingErrorKey"
/// The error of the last upload, as `NSError`: no item has one on one device.
public let NSMetadataUbiquitousItemUploadingErrorKey = "NSMetadataUbiquitousItemUploadingErrorKey"
/// Whether the item belongs to another container and was opened here, as `NSNumber`: never.
public let NSMetadataUbiquitousItemIsExternalDocumentKey = "NSMetadataUbiquitousItemIsExternalDocumentKey"
/// The place in this container of another container's item, as `URL`: no item has one.
public let NSMetadataUbiquitousItemURLInLocalContainerKey = "NSMetadataUbiquitousItemURLInLocalContainerKey"
/// The downloaded share from 0 to 100, as `NSNumber`.
public let NSMetadataUbiquitousItemPercentDownloadedKey = "NSMetadataUbiquitousItemPercentDownloadedKey"
/// The uploaded share from 0 to 100, as `NSNumber`.
public let NSMetadataUbiquitousItemPercentUploadedKey = "NSMetadataUbiquitousItemPercentUploadedKey"
/// The name of the container's directory.
public let NSMetadataUbiquitousItemContainerDisplayNameKey = "NSMetadataUbiquitousItemContainerDisplayNameKey"
/// The number of versions including the current one, as `NSNumber`. Apple has no such key.
public let NSMetadataItemVersionCountKey = "NSMetadataItemVersionCountKey"
/// The number of other versions in the unresolved conflict, as `NSNumber`. Apple has no such key.
public let NSMetadataItemConflictCountKey = "NSMetadataItemConflictCountKey"

extension QueryAttribute {
    /// The attribute for one of Apple's keys, or for a name of the query language.
    init?(metadataKey key: String) {
        switch key {
        case NSMetadataItemFSNameKey, NSMetadataItemDisplayNameKey: self = .name
        case NSMetadataItemPathKey: self = .path
        case NSMetadataItemFSSizeKey: self = .size
        case NSMetadataItemFSContentChangeDateKey: self = .modified
        case NSMetadataItemAuthorsKey: self = .user
        case NSMetadataItemCreatorKey: self = .program
        case NSMetadataUbiquitousItemHasUnresolvedConflictsKey, NSMetadataItemConflictCountKey: self = .conflicts
        case NSMetadataItemVersionCountKey: self = .versions
        default: self.init(rawValue: key)
        }
    }
}
