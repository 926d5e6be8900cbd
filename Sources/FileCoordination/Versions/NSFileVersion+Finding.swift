// Finds versions of a file: the current one, the others, those in conflict, and one by its identity.

import ControlProtocol
import Foundation
import VersionModel
import VersionsClient

extension NSFileVersion {
    /// The current version of a file; nil if the file does not exist.
    public class func currentVersionOfItem(at url: URL) -> NSFileVersion? {
        if let (versions, item) = history(of: url) {
            return versions.first { $0.kind == .current }.map { NSFileVersion($0, of: url, in: item) } ?? plain(url)
        }
        return plain(url)
    }

    /// All other local versions, newest first, in conflict or not; nil if the file does not exist.
    public class func otherVersionsOfItem(at url: URL) -> [NSFileVersion]? {
        others(of: url) { $0.kind != .current && $0.local }
    }

    /// The losers of unresolved conflicts; nil if the file does not exist.
    public class func unresolvedConflictVersionsOfItem(at url: URL) -> [NSFileVersion]? {
        others(of: url) { $0.kind == .conflict }
    }

    /// Versions that are known here but stored on other devices. There is one device, so there are none.
    public class func getNonlocalVersionsOfItem(
        at url: URL, completionHandler: @escaping @Sendable ([NSFileVersion]?, (any Error)?) -> Void
    ) {
        let queue = DispatchQueue.global()
        queue.async {
            completionHandler(others(of: url) { $0.kind != .current && !$0.local } ?? [], nil)
        }
    }

    /// The same, awaited.
    public class func nonlocalVersionsOfItem(at url: URL) async throws -> [NSFileVersion] {
        try await withCheckedThrowingContinuation { continuation in
            getNonlocalVersionsOfItem(at: url) { versions, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(versions ?? []))
            }
        }
    }

    /// The version with this ``persistentIdentifier``; nil if it is gone, or belongs to another file.
    public class func version(itemAt url: URL, forPersistentIdentifier persistentIdentifier: Any) -> NSFileVersion? {
        let identifier = (persistentIdentifier as? NSString).map { "\($0)" } ?? persistentIdentifier as? String
        guard let identifier else { return nil }
        guard let (versions, item) = history(of: url) else { return identifier == "current" ? plain(url) : nil }
        return versions.first { $0.id.hex == identifier }.map { NSFileVersion($0, of: url, in: item) }
    }

    private class func others(of url: URL, _ isWanted: (VersionInfo) -> Bool) -> [NSFileVersion]? {
        guard let (versions, item) = history(of: url) else { return plain(url).map { _ in [] } }
        return versions.filter(isWanted).map { NSFileVersion($0, of: url, in: item) }
    }

    /// The versions of an existing document; nil if the item is no document, or its container does not answer.
    class func history(of url: URL) -> ([VersionInfo], ServedItem)? {
        guard (try? url.checkResourceIsReachable()) == true, let item = try? ServedItem.find(url) else { return nil }
        guard let history = try? item.client.callAndWait(HistoryRequest(.path(item.path))) else { return nil }
        return (history.versions, item)
    }

    /// The version of a file without a history.
    private class func plain(_ url: URL) -> NSFileVersion? {
        guard let values = try? FileManager.default.attributesOfItem(atPath: url.path) else { return nil }
        return NSFileVersion(plain: url, modified: values[.modificationDate] as? Date)
    }
}
