// The names of metadata queries: notifications, scopes and attributes, as Apple spells them.

@_exported import QueryLanguage
import Foundation

/// What an ``NSMetadataQuery`` asks for. `NSPredicate` has no formats outside of Apple's systems; this has a language
/// of its own, `docs/query.md`, and `init(format:_:)` for formats as `NSPredicate`
/// reads them.
public typealias NSMetadataPredicate = QueryPredicate

extension NSNotification.Name {
    /// A query has begun to gather its first set of results.
    public static let NSMetadataQueryDidStartGathering = NSNotification.Name("NSMetadataQueryDidStartGatheringNotification")
    /// More results of the first set are there.
    public static let NSMetadataQueryGatheringProgress = NSNotification.Name("NSMetadataQueryGatheringProgressNotification")
    /// The first set is complete.
    public static let NSMetadataQueryDidFinishGathering = NSNotification.Name("NSMetadataQueryDidFinishGatheringNotification")
    /// Results have changed since: the notification says which.
    public static let NSMetadataQueryDidUpdate = NSNotification.Name("NSMetadataQueryDidUpdateNotification")
    /// Another user's containers are there now. Never posted: a process has one user.
    public static let NSUbiquityIdentityDidChange = NSNotification.Name("NSUbiquityIdentityDidChangeNotification")
}

/// The results that were added, in a notification's `userInfo`.
public let NSMetadataQueryUpdateAddedItemsKey = "kMDQueryUpdateAddedItems"
/// The results that have changed.
public let NSMetadataQueryUpdateChangedItemsKey = "kMDQueryUpdateChangedItems"
/// The results that are none any more.
public let NSMetadataQueryUpdateRemovedItemsKey = "kMDQueryUpdateRemovedItems"

/// What is in the document scope of the container (`scopes.documents`).
public let NSMetadataQueryUbiquitousDocumentsScope = "NSMetadataQueryUbiquitousDocumentsScope"
/// What is in the container and not in its document scope.
public let NSMetadataQueryUbiquitousDataScope = "NSMetadataQueryUbiquitousDataScope"
/// Documents of other containers that were opened here. There are none.
public let NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope =
    "NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope"

/// Containers that are mounted at or below the user's home directory, or that it lies in.
public let NSMetadataQueryUserHomeScope = "kMDQueryScopeHome"
/// All containers that are mounted and that this user may enter.
public let NSMetadataQueryLocalComputerScope = "kMDQueryScopeComputer"
/// The same: nothing else is known of this computer's files.
public let NSMetadataQueryIndexedLocalComputerScope = "kMDQueryScopeComputerIndexed"
/// Other computers' volumes. Nothing is known of them.
public let NSMetadataQueryNetworkScope = "kMDQueryScopeNetwork"
/// The same.
public let NSMetadataQueryIndexedNetworkScope = "kMDQueryScopeNetworkIndexed"

/// The name, as `String`.
public let NSMetadataItemFSNameKey = "kMDItemFSName"
/// The name as people see it: the same.
public let NSMetadataItemDisplayNameKey = "kMDItemDisplayName"
/// Where it is, as `URL`.
public let NSMetadataItemURLKey = "kMDItemURL"
/// Where it is, as `String`.
public let NSMetadataItemPathKey = "kMDItemPath"
/// Bytes, as `NSNumber`.
public let NSMetadataItemFSSizeKey = "kMDItemFSSize"
/// When the content was changed, as `Date`.
public let NSMetadataItemFSContentChangeDateKey = "kMDItemFSContentChangeDate"
/// When the file was made, as `Date`. No item has it: Linux does not tell it of every file system.
public let NSMetadataItemFSCreationDateKey = "kMDItemFSCreationDate"
/// `public.folder`, `public.symlink` or `public.data`.
public let NSMetadataItemContentTypeKey = "kMDItemContentType"
/// The programs' users that saved it, as `[String]`: that of the current version.
public let NSMetadataItemAuthorsKey = "kMDItemAuthors"
/// The program that saved it.
public let NSMetadataItemCreatorKey = "kMDItemCreator"
/// Whether it lies in a container, as `NSNumber`.
public let NSMetadataItemIsUbiquitousKey = "NSMetadataItemIsUbiquitousKey"
/// Whether it has losers that nobody has resolved, as `NSNumber`.
public let NSMetadataUbiquitousItemHasUnresolvedConflictsKey = "NSMetadataUbiquitousItemHasUnresolvedConflictsKey"
/// One of the constants for it.
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
/// Whether it has been asked for, as `NSNumber`.
public let NSMetadataUbiquitousItemDownloadRequestedKey = "NSMetadataUbiquitousItemDownloadRequestedKey"
/// Whether the content is being sent, as `NSNumber`.
public let NSMetadataUbiquitousItemIsUploadingKey = "NSMetadataUbiquitousItemIsUploadingKey"
/// Whether the content is elsewhere as well, as `NSNumber`: on one device never.
public let NSMetadataUbiquitousItemIsUploadedKey = "NSMetadataUbiquitousItemIsUploadedKey"
/// Why the content could not be fetched, as `NSError`: on one device nothing has it.
public let NSMetadataUbiquitousItemDownloadingErrorKey = "NSMetadataUbiquitousItemDownloadingErrorKey"
/// Why the content could not be sent, as `NSError`: on one device nothing has it.
public let NSMetadataUbiquitousItemUploadingErrorKey = "NSMetadataUbiquitousItemUploadingErrorKey"
/// Whether it is another container's, opened here, as `NSNumber`: nothing is.
public let NSMetadataUbiquitousItemIsExternalDocumentKey = "NSMetadataUbiquitousItemIsExternalDocumentKey"
/// Where an item of another container is in one's own, as `URL`: nothing has it.
public let NSMetadataUbiquitousItemURLInLocalContainerKey = "NSMetadataUbiquitousItemURLInLocalContainerKey"
/// From 0 to 100, as `NSNumber`.
public let NSMetadataUbiquitousItemPercentDownloadedKey = "NSMetadataUbiquitousItemPercentDownloadedKey"
/// From 0 to 100, as `NSNumber`.
public let NSMetadataUbiquitousItemPercentUploadedKey = "NSMetadataUbiquitousItemPercentUploadedKey"
/// The name of the container's directory.
public let NSMetadataUbiquitousItemContainerDisplayNameKey = "NSMetadataUbiquitousItemContainerDisplayNameKey"
/// How many versions there are, the current one included, as `NSNumber`. Apple has no such key.
public let NSMetadataItemVersionCountKey = "NSMetadataItemVersionCountKey"
/// How many losers nobody has resolved, as `NSNumber`. Apple has no such key.
public let NSMetadataItemConflictCountKey = "NSMetadataItemConflictCountKey"

extension QueryAttribute {
    /// The attribute that one of Apple's keys, or one of our own names, stands for.
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
