// What the listings take from systems that Linux has not got: as much of it as they use.

import FileCoordination
import Foundation

/// A picture: data that begins with `IMG`.
final class UIImage {
    let data: Data
    init?(data: Data) {
        guard data.starts(with: Data("IMG".utf8)) else { return nil }
        self.data = data
    }
}

/// A file or a directory of files in memory.
final class NSFileWrapper {
    struct WritingOptions: OptionSet { let rawValue: Int }

    let contents: [String: Data]
    init(directoryWithFiles contents: [String: Data]) { self.contents = contents }

    func write(to url: URL, options: WritingOptions, originalContentsURL: URL?) throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for (name, data) in contents { try data.write(to: url.appendingPathComponent(name)) }
    }
}

/// A document that presents its file and does its file access on a queue of its own.
class UIDocument: NSObject, NSFilePresenter {
    enum SaveOperation { case forCreating, forOverwriting }

    private(set) var fileURL: URL
    var fileModificationDate: Date?
    private let access = DispatchQueue(label: "document")
    let presentedItemOperationQueue = OperationQueue()
    var presentedItemURL: URL? { fileURL }

    init(fileURL: URL) {
        self.fileURL = fileURL
        super.init()
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
    }

    func open() { NSFileCoordinator.addFilePresenter(self) }
    func close() { NSFileCoordinator.removeFilePresenter(self) }

    func performAsynchronousFileAccess(_ block: @escaping () -> Void) {
        access.async(execute: DispatchWorkItem(block: block))
    }

    func contents() -> NSFileWrapper { NSFileWrapper(directoryWithFiles: [:]) }

    func save(to url: URL, for saveOperation: SaveOperation, completionHandler: ((Bool) -> Void)? = nil) {
        performAsynchronousFileAccess {
            var hasWritten = false
            NSFileCoordinator(filePresenter: self).coordinate(
                writingItemAt: url, options: .forReplacing, error: nil
            ) { newURL in
                hasWritten = (try? self.contents().write(to: newURL, options: [], originalContentsURL: nil)) != nil
            }
            self.fileURL = url
            DispatchQueue.main.async { completionHandler?(hasWritten) }
        }
    }

    func revert(toContentsOf url: URL) { reverts += 1 }
    private(set) var reverts = 0
}
