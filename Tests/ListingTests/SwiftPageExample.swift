import FileCoordination
import Foundation

/// A note that is edited in memory and shown as it is on disk.
final class NoteEditor: NSObject, NSFilePresenter, @unchecked Sendable {
    let presentedItemURL: URL?
    let presentedItemOperationQueue = OperationQueue()
    private(set) var text = ""
    var hasChanges = false

    init(_ url: URL) {
        presentedItemURL = url
        super.init()
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
        NSFileCoordinator.addFilePresenter(self)
        load()
    }

    func close() { NSFileCoordinator.removeFilePresenter(self) }

    func type(_ more: String) {
        text += more
        hasChanges = true
    }

    private func load() {
        guard let url = presentedItemURL else { return }
        NSFileCoordinator(filePresenter: self).coordinate(readingItemAt: url, error: nil) { url in
            text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        }
    }

    // Another program is about to read the file: unsaved changes are written first.
    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        guard hasChanges, let url = presentedItemURL else { return completionHandler(nil) }
        var (error, failure): (NSError?, (any Error)?)
        NSFileCoordinator(filePresenter: self).coordinate(writingItemAt: url, error: &error) { url in
            do { try text.write(to: url, atomically: true, encoding: .utf8) } catch { failure = error }
        }
        hasChanges = error != nil || failure != nil
        completionHandler(error ?? failure)
    }

    // Another program has changed the file: an editor, a script, a coding agent.
    func presentedItemDidChange() { if !hasChanges { load() } }

    // Two programs have saved the file from the same content: the other version waits for a choice.
    func presentedItemDidGain(_ version: NSFileVersion) {
        if version.isConflict { print("conflict with another version: \(version.url.path)") }
    }
}
