// The Objective-C listings of "Advanced iCloud document storage", put into Swift, and around them what they leave to
// the reader.

import FileCoordination
import Foundation

final class Picture: NSObject, NSFilePresenter {
    let url: URL
    var image: Data
    var loads = 0
    let presentedItemOperationQueue = OperationQueue()
    var presentedItemURL: URL? { url }

    init(url: URL, image: Data = Data()) {
        self.url = url
        self.image = image
    }

    var fileWrapper: NSFileWrapper { NSFileWrapper(directoryWithFiles: ["image": image]) }

    func load(from url: URL) {
        image = (try? Data(contentsOf: url.appendingPathComponent("image"))) ?? Data()
        loads += 1
    }

    // MARK: The listing

    func save(error outError: NSErrorPointer) -> Bool {
        let url = self.url
        var didWrite = false
        let fc = NSFileCoordinator(filePresenter: self)
        fc.coordinate(writingItemAt: url, options: .forReplacing, error: outError) { updatedURL in
            let fw = self.fileWrapper
            didWrite = (try? fw.write(to: updatedURL, options: [], originalContentsURL: nil)) != nil
        }
        return didWrite
    }
}

final class PictureShoebox: NSObject, NSFilePresenter {
    let directory: URL
    let presentedItemOperationQueue = OperationQueue()
    var presentedItemURL: URL? { directory }
    private let condition = NSCondition()
    private var pictures: [URL: Picture] = [:]
    private var conflicts: [URL: [NSFileVersion]] = [:]

    init(_ directory: URL) {
        self.directory = directory
        super.init()
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
    }

    func picture(at url: URL) -> Picture? { condition.withLock { pictures[item(of: url)] } }

    /// Of something in a package the package.
    private func item(of url: URL) -> URL {
        var item = url
        while item.pathComponents.count > directory.pathComponents.count + 1 { item.deleteLastPathComponent() }
        return directory.appendingPathComponent(item.lastPathComponent, isDirectory: false)
    }

    private func addPicture(with url: URL) {
        let picture = Picture(url: item(of: url))
        picture.load(from: item(of: url))
        condition.withLock { pictures[picture.url] = picture }
    }

    private func presentConflictVersion(_ version: NSFileVersion, forPicture picture: Picture) {
        condition.withLock {
            conflicts[picture.url, default: []].append(version)
            condition.broadcast()
        }
    }

    /// Waits until something is as wanted; what it looks at is guarded.
    func wait(until isWanted: ([URL: Picture], [URL: [NSFileVersion]]) -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: 60)
        condition.lock()
        defer { condition.unlock() }
        while !isWanted(pictures, conflicts) { if !condition.wait(until: deadline) { return false } }
        return true
    }

    // MARK: The listings

    func presentedSubitemDidChange(at url: URL) {
        let fc = NSFileCoordinator(filePresenter: self)
        var outError: NSError?
        fc.coordinate(readingItemAt: url, options: [], error: &outError) { updatedURL in
            let picture = self.picture(at: updatedURL)
            if let picture = picture {
                picture.load(from: self.item(of: updatedURL))
            } else {
                self.addPicture(with: updatedURL)
            }
        }
        condition.withLock { condition.broadcast() }
    }

    func presentedSubitem(at url: URL, didGain version: NSFileVersion) {
        if version.isConflict {
            let picture = self.picture(at: url)
            if let picture = picture {
                self.presentConflictVersion(version, forPicture: picture)
            }
        }
    }

    func presentedSubitem(at url: URL, didResolve version: NSFileVersion) {
        condition.withLock {
            conflicts[item(of: url)]?.removeAll { $0 == version }
            condition.broadcast()
        }
    }
}
