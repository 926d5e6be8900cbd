// A result of a metadata query: a file or directory with its attributes.

import ControlProtocol
import Foundation
import Synchronization
import VersionModel
import VersionsClient

/// A file, directory or other entry that an ``NSMetadataQuery`` has found. While the query runs, each notification
/// updates the item, even after a rename.
open class NSMetadataItem: NSObject, @unchecked Sendable {
    /// Guards the entry.
    private let state: Mutex<QueryItem>
    /// The container's directory.
    private let container: String

    init(_ item: QueryItem, container: String) {
        state = Mutex(item)
        self.container = container
        super.init()
    }

    /// The item of a file in a container; nil if there is none. Waits for the daemon.
    public convenience init?(url: URL) {
        guard let served = try? ServedItem.find(url, followingLastLink: false),
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        else { return nil }
        var item: QueryItem?
        if attributes[.type] as? FileAttributeType == .typeDirectory {
            // A query of a directory searches its contents, and not the directory itself.
            item = QueryItem(
                id: "\(attributes[.systemFileNumber] as? Int ?? 0)", path: served.path, type: .directory, size: 0,
                modified: (attributes[.modificationDate] as? Date ?? .distantPast).timestamp,
                file: Path(url) ?? served.path)
        } else {
            item = try? served.client.itemsAndWait(of: QueryRequest(.path(served.path))).first
        }
        guard let item else { return nil }
        self.init(item, container: served.root.lastComponent.description)
    }

    var item: QueryItem {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// The attributes that the item has.
    open var attributes: [String] { Self.allKeys.filter { value(forAttribute: $0) != nil } }

    /// The values of some attributes.
    open func values(forAttributes keys: [String]) -> [String: Any]? {
        Dictionary(keys.compactMap { key in value(forAttribute: key).map { (key, $0) } }) { first, _ in first }
    }

    /// The value of an attribute, by Apple's key or its name in queries; nil if the item has none.
    open func value(forAttribute key: String) -> Any? {
        let item = item
        let isHere = item.state == "current" || item.state == "uploading"
        switch key {
        case NSMetadataItemURLKey: return URL(file: item.file, item.type == .directory)
        case NSMetadataItemPathKey: return item.file.description
        case NSMetadataItemFSSizeKey: return NSNumber(value: item.size)
        case NSMetadataItemContentTypeKey:
            return item.type == .directory ? "public.folder" : item.type == .symlink ? "public.symlink" : "public.data"
        case NSMetadataItemAuthorsKey: return item.document.map { [$0.user] }
        case NSMetadataItemIsUbiquitousKey: return NSNumber(value: true)
        case NSMetadataUbiquitousItemHasUnresolvedConflictsKey:
            return NSNumber(value: (item.document?.conflicts ?? 0) > 0)
        case NSMetadataUbiquitousItemDownloadingStatusKey:
            return isHere
                ? NSMetadataUbiquitousItemDownloadingStatusCurrent
                : NSMetadataUbiquitousItemDownloadingStatusNotDownloaded
        case NSMetadataUbiquitousItemIsDownloadingKey, NSMetadataUbiquitousItemDownloadRequestedKey:
            return NSNumber(value: item.state == "downloading")
        case NSMetadataUbiquitousItemIsUploadingKey: return NSNumber(value: item.state == "uploading")
        case NSMetadataUbiquitousItemIsUploadedKey, NSMetadataUbiquitousItemIsExternalDocumentKey:
            return NSNumber(value: false)
        case NSMetadataUbiquitousItemPercentDownloadedKey: return NSNumber(value: isHere ? 100.0 : 0.0)
        case NSMetadataUbiquitousItemPercentUploadedKey: return NSNumber(value: 0.0)
        case NSMetadataUbiquitousItemContainerDisplayNameKey: return container
        default: return QueryAttribute(metadataKey: key).flatMap { item.value(of: $0) }.map { Self.value($0) }
        }
    }

    private static func value(_ value: QueryValue) -> Any {
        switch value {
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .number(let number): NSNumber(value: number)
        case .moment(let moment): Date(moment)
        }
    }

    private static let allKeys = [
        NSMetadataItemFSNameKey, NSMetadataItemDisplayNameKey, NSMetadataItemURLKey, NSMetadataItemPathKey,
        NSMetadataItemFSSizeKey, NSMetadataItemFSContentChangeDateKey, NSMetadataItemContentTypeKey,
        NSMetadataItemAuthorsKey, NSMetadataItemCreatorKey, NSMetadataItemIsUbiquitousKey,
        NSMetadataUbiquitousItemHasUnresolvedConflictsKey, NSMetadataUbiquitousItemDownloadingStatusKey,
        NSMetadataUbiquitousItemIsDownloadingKey, NSMetadataUbiquitousItemDownloadRequestedKey,
        NSMetadataUbiquitousItemIsUploadingKey, NSMetadataUbiquitousItemIsUploadedKey,
        NSMetadataUbiquitousItemPercentDownloadedKey, NSMetadataUbiquitousItemPercentUploadedKey,
        NSMetadataUbiquitousItemContainerDisplayNameKey, NSMetadataUbiquitousItemIsExternalDocumentKey,
        NSMetadataItemVersionCountKey, NSMetadataItemConflictCountKey,
    ]

    /// The sort value of an attribute.
    public subscript(sorting key: String) -> NSMetadataSortValue { NSMetadataSortValue(value(forAttribute: key)) }

    open override var description: String { "<NSMetadataItem \(item.file)>" }
}

/// A value in sort order: no value first, then numbers and dates, then texts.
public struct NSMetadataSortValue: Comparable, Sendable {
    private let text: String?
    private let number: Double

    init(_ value: Any?) {
        switch value {
        case let number as NSNumber: (text, self.number) = (nil, number.doubleValue)
        case let date as Date: (text, number) = (nil, date.timeIntervalSince1970)
        case let url as URL: (text, number) = (url.path, .infinity)
        case let value as String: (text, number) = (value, .infinity)
        default: (text, number) = (nil, -.infinity)
        }
    }

    public static func < (left: NSMetadataSortValue, right: NSMetadataSortValue) -> Bool {
        (left.number, left.text ?? "") < (right.number, right.text ?? "")
    }
}

extension NSSortDescriptor {
    /// Sorts items of a query by an attribute. (Foundation has no sort keys outside of Apple's systems; this
    /// initializer is for ``NSMetadataItem`` only.)
    public convenience init(key: String, ascending: Bool) {
        self.init(keyPath: \NSMetadataItem.[sorting: key], ascending: ascending)
    }
}

extension Date {
    /// The same moment; for a date out of range the earliest or latest possible one.
    var timestamp: Timestamp {
        let nanoseconds = timeIntervalSince1970 * 1e9
        guard nanoseconds > -9.2e18 else { return Timestamp(nanoseconds: .min) }
        return Timestamp(nanoseconds: nanoseconds < 9.2e18 ? Int64(nanoseconds) : .max)
    }
}
