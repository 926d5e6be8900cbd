// What Apple's URL resource values tell of items in a container. Foundation's own values cannot be added to.

import ControlProtocol
import Foundation

/// The state of an item in a container; the properties are called as those of `URLResourceValues`, which outside of
/// Apple's systems are nil without saying so.
public struct UbiquitousItemValues: Hashable, Sendable {
    /// Where an item's content is.
    public enum DownloadingStatus: String, Hashable, Sendable {
        /// The content is elsewhere.
        case notDownloaded = "NSURLUbiquitousItemDownloadingStatusNotDownloaded"
        /// An older content is here.
        case downloaded = "NSURLUbiquitousItemDownloadingStatusDownloaded"
        /// The content is here.
        case current = "NSURLUbiquitousItemDownloadingStatusCurrent"
    }

    /// Whether it lies in a container.
    public var isUbiquitousItem: Bool
    /// Whether it has losers that nobody has resolved.
    public var ubiquitousItemHasUnresolvedConflicts: Bool?
    public var ubiquitousItemDownloadingStatus: DownloadingStatus?
    public var ubiquitousItemIsDownloading: Bool?
    public var ubiquitousItemIsUploading: Bool?
    /// Whether the content is elsewhere as well: on one device never.
    public var ubiquitousItemIsUploaded: Bool?
    /// The name of the container's directory.
    public var ubiquitousItemContainerDisplayName: String?
}

extension URL {
    /// The state of the item in its container, as it is now.
    /// - Throws: if nothing is there.
    public func ubiquitousItemValues() throws -> UbiquitousItemValues {
        _ = try checkResourceIsReachable()
        guard let path = Path(self), UbiquityAttribute.container.text(of: path) != nil else {
            return UbiquitousItemValues(isUbiquitousItem: false)
        }
        let state = UbiquityAttribute.state.text(of: path) ?? "current"
        return UbiquitousItemValues(
            isUbiquitousItem: true,
            ubiquitousItemHasUnresolvedConflicts: UbiquityAttribute.conflicts.text(of: path).map { $0 != "0" },
            ubiquitousItemDownloadingStatus: state == "evicted" || state == "downloading" ? .notDownloaded : .current,
            ubiquitousItemIsDownloading: state == "downloading", ubiquitousItemIsUploading: state == "uploading",
            ubiquitousItemIsUploaded: false,
            ubiquitousItemContainerDisplayName: FileManager.default.url(forUbiquityContainerIdentifier: path.description)?
                .lastPathComponent)
    }
}
