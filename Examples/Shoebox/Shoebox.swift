// The shoebox: the pictures of a directory as all programs see them. It presents the directory, so it is asked before
// something is deleted and told what others have changed, and it saves, deletes and resolves by coordinated accesses.

import FileCoordination
import Foundation

/// The pictures of a directory, kept up to date.
final class Shoebox: NSObject, NSFilePresenter, @unchecked Sendable {
    // Sendable because the pictures are touched on `presentedItemOperationQueue` alone, which runs one thing at a time.

    let directory: URL
    var presentedItemURL: URL? { directory }
    let presentedItemOperationQueue = OperationQueue()
    /// Called on the queue after something has changed.
    private let changed: @Sendable (Shoebox, String) -> Void
    private var pictures: [URL: Picture] = [:]

    /// - Parameter changed: gets a sentence about what has happened.
    init(_ directory: URL, changed: @escaping @Sendable (Shoebox, String) -> Void) {
        self.directory = directory
        self.changed = changed
        super.init()
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
    }

    /// Begins to present, and reads what is there. Presenting first: what comes in between is told then.
    func open() throws {
        NSFileCoordinator.addFilePresenter(self)
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        onQueue { for file in files where file.pathExtension == Picture.pathExtension { self.load(file) } }
    }

    func close() { NSFileCoordinator.removeFilePresenter(self) }

    /// By name.
    var gallery: [Picture] { onQueue { self.pictures.values.sorted { $0.name < $1.name } } }

    private func onQueue<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
        if OperationQueue.current === presentedItemOperationQueue { return body() }
        let box = Box<Result>()
        presentedItemOperationQueue.addOperations([BlockOperation { box.value = body() }], waitUntilFinished: true)
        guard let value = box.value else { preconditionFailure("the operation has run") }
        return value
    }

    private final class Box<Value>: @unchecked Sendable {
        // Sendable because it is written before the operation ends, and read after that.
        var value: Value?
    }

    // MARK: What the user does

    /// Adds a picture, or saves one that is there.
    func save(_ picture: Picture) throws {
        var (error, failure): (NSError?, (any Error)?)
        NSFileCoordinator(filePresenter: self).coordinate(
            writingItemAt: picture.url, options: .forReplacing, error: &error
        ) { url in
            do { try Data(picture.text.utf8).write(to: url, options: .atomic) } catch { failure = error }
        }
        if let problem = error ?? failure { throw problem }
        onQueue { _ = self.load(picture.url) }
    }

    func delete(_ picture: Picture) throws {
        var (error, failure): (NSError?, (any Error)?)
        NSFileCoordinator(filePresenter: self).coordinate(
            writingItemAt: picture.url, options: .forDeleting, error: &error
        ) { url in
            do { try FileManager.default.removeItem(at: url) } catch { failure = error }
        }
        if let problem = error ?? failure { throw problem }
        onQueue { _ = self.pictures.removeValue(forKey: picture.url) }
    }

    /// Ends a conflict: with what is in the file, or with one of the losers. One that has lost meanwhile, which the
    /// user has not seen, still waits then.
    func resolve(_ picture: Picture, keeping version: NSFileVersion?) throws {
        var (error, failure): (NSError?, (any Error)?)
        NSFileCoordinator(filePresenter: self).coordinate(
            writingItemAt: picture.url, options: .contentIndependentMetadataOnly, error: &error
        ) { url in
            do {
                if let version { _ = try version.replaceItem(at: url) }
                for loser in picture.conflicts { loser.isResolved = true }
            } catch { failure = error }
        }
        if let problem = error ?? failure { throw problem }
        onQueue { _ = self.load(picture.url) }
    }

    // MARK: What it is told

    /// Reads a picture anew, or forgets it if it has gone. Called on the queue.
    @discardableResult
    private func load(_ url: URL) -> Bool {
        guard url.pathExtension == Picture.pathExtension, isHere(url) else { return false }
        let former = pictures[url]
        var (error, failure): (NSError?, (any Error)?)
        NSFileCoordinator(filePresenter: self).coordinate(readingItemAt: url, options: [], error: &error) { place in
            do {
                pictures[url] = try Picture(contentsOf: place, at: url)
                pictures[url]?.conflicts = NSFileVersion.unresolvedConflictVersionsOfItem(at: place) ?? []
            } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
                pictures[url] = nil
            } catch { failure = error }
        }
        // The picture stays in the list and may be old: the user has to know.
        if let problem = error ?? failure {
            changed(self, "cannot read \(url.lastPathComponent): \(problem.localizedDescription)")
        }
        return pictures[url] != former
    }

    /// Messages come from any depth; the pictures are those of the directory itself.
    private func isHere(_ url: URL) -> Bool { url.deletingLastPathComponent().path == directory.path }

    private func reload(_ url: URL, _ what: String) {
        guard load(url) else { return }
        changed(self, "\(pictures[url] == nil ? "deleted" : what): \(url.lastPathComponent)")
    }

    func presentedSubitemDidAppear(at url: URL) { reload(url, "new") }

    func presentedSubitemDidChange(at url: URL) { reload(url, "changed") }

    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
        let wasShown = pictures.removeValue(forKey: oldURL) != nil
        guard load(newURL) || wasShown else { return }
        changed(self, "renamed: \(oldURL.lastPathComponent) to \(newURL.lastPathComponent)")
    }

    func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        // Nothing of it is open here. Whether it is deleted then is told as a change.
        completionHandler(nil)
    }

    func presentedSubitem(at url: URL, didGain version: NSFileVersion) {
        if version.isConflict { reload(url, "conflict") }
    }

    func presentedSubitem(at url: URL, didResolve version: NSFileVersion) { reload(url, "resolved") }

    func presentedSubitem(at url: URL, didLose version: NSFileVersion) { reload(url, "changed") }
}
