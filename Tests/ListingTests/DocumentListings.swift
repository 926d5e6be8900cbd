// The Swift listings of "Synchronizing documents in the iCloud environment", each as it stands but for the predicate,
// and around them what they leave to the reader.

import FileCoordination
import Foundation

/// A document is a package of images.
final class Document: UIDocument {
    static let extensionName = "sicd"

    private let lock = NSLock()
    private var unsaved: [String: Data?] = [:]

    /// An image to be added, or to be removed with nil.
    func change(_ name: String, to data: Data?) { lock.withLock { unsaved[name] = .some(data) } }

    override func contents() -> NSFileWrapper {
        lock.withLock {
            defer { unsaved = [:] }
            return NSFileWrapper(directoryWithFiles: unsaved.compactMapValues { $0 })
        }
    }

    func fulfillUnsavedChanges() -> Bool {
        let changes = lock.withLock {
            defer { unsaved = [:] }
            return unsaved
        }
        for (name, data) in changes {
            let url = fileURL.appendingPathComponent(name)
            do {
                if let data { try data.write(to: url) } else { try FileManager.default.removeItem(at: url) }
            } catch {
                return false
            }
        }
        return true
    }

    // MARK: The listings

    func retrieveImageAsynchronously(with imageName: String, completionHandler: @escaping (UIImage?) -> Void) {
        performAsynchronousFileAccess {
            let imageFileURL = self.fileURL.appendingPathComponent(imageName)
            let fileCoordinator = NSFileCoordinator(filePresenter: self)
            fileCoordinator.coordinate(readingItemAt: imageFileURL, options: .withoutChanges, error: nil) { newURL in
                if let imageData = try? Data(contentsOf: newURL), let image = UIImage(data: imageData) {
                    completionHandler(image)
                } else {
                    completionHandler(nil)
                }
            }
        }
    }

    override func save(
        to url: URL, for saveOperation: UIDocument.SaveOperation, completionHandler: ((Bool) -> Void)? = nil
    ) {
        if saveOperation != .forCreating {
            print("\(#function)")
            return performAsynchronousFileAccess {
                let fileCoordinator = NSFileCoordinator(filePresenter: self)
                fileCoordinator.coordinate(writingItemAt: self.fileURL, options: .forMerging, error: nil) { newURL in
                    let success = self.fulfillUnsavedChanges()
                    self.fileModificationDate = Date()
                    if let completionHandler = completionHandler {
                        DispatchQueue.main.async {
                            completionHandler(success)
                        }
                    }
                }
            }
        }
        super.save(to: url, for: saveOperation, completionHandler: completionHandler)
    }
}

/// What the sample knows of a found document.
struct MetadataItem: Hashable {
    let name: String
    let url: URL
}

/// Finds the documents, and tells when they change.
final class MetadataProvider {
    let metadataQuery = NSMetadataQuery()

    init() throws {
        metadataQuery.notificationBatchingInterval = 1
        metadataQuery.searchScopes = [NSMetadataQueryUbiquitousDataScope, NSMetadataQueryUbiquitousDocumentsScope]
        metadataQuery.predicate = try NSMetadataPredicate(
            format: "%K LIKE %@", NSMetadataItemFSNameKey, "*." + Document.extensionName)
        metadataQuery.sortDescriptors = [NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: true)]
    }

    func metadataItemList(from items: [NSMetadataItem]) -> [MetadataItem] {
        items.compactMap { item in
            guard let name = item.value(forAttribute: NSMetadataItemFSNameKey) as? String,
                let url = item.value(forAttribute: NSMetadataItemURLKey) as? URL
            else { return nil }
            return MetadataItem(name: name, url: url)
        }
    }

    func metadataItemList() -> [MetadataItem] {
        var result = [MetadataItem]()
        metadataQuery.disableUpdates()
        if let metadatItems = metadataQuery.results as? [NSMetadataItem] {
            result = metadataItemList(from: metadatItems)
        }
        metadataQuery.enableUpdates()
        return result
    }
}

/// Resolves conflicts as the sample does.
final class ConflictResolver {
    func resolveConflictsAsynchronously(document: Document, completionHandler: ((Bool) -> Void)?) {
        DispatchQueue.global().async {
            NSFileCoordinator().coordinate(writingItemAt: document.fileURL,
                                           options: .contentIndependentMetadataOnly, error: nil) { newURL in
                let shouldRevert = self.pickLatestVersion(for: newURL)
                completionHandler?(shouldRevert)
            }
        }
    }

    /// The version that was modified last stays, the others go, as the text beside the listing says.
    private func pickLatestVersion(for url: URL) -> Bool {
        guard let current = NSFileVersion.currentVersionOfItem(at: url),
            let losers = NSFileVersion.unresolvedConflictVersionsOfItem(at: url), !losers.isEmpty
        else { return false }
        let latest = ([current] + losers).max {
            ($0.modificationDate ?? .distantPast) < ($1.modificationDate ?? .distantPast)
        }
        do {
            if let latest, latest != current { try latest.replaceItem(at: url) }
            for loser in losers { loser.isResolved = true }
            try NSFileVersion.removeOtherVersionsOfItem(at: url)
        } catch {
            return false
        }
        return latest != current
    }
}
