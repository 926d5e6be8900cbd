// The snapshot for a reader with `forUploading`: a private copy, so that no writer waits for the reader.

import Foundation

/// The items of an access, with copies for the uploads.
struct Snapshots {
    /// The places for the accessor.
    private(set) var urls: [URL]
    private var directories: [URL] = []
    /// Whether the access consists of copies only.
    let areAll: Bool

    /// Makes the copies; the claims exclude writers meanwhile.
    init(of urls: [URL], _ wanted: [Wanted]) throws {
        self.urls = urls
        areAll = !wanted.isEmpty && wanted.allSatisfy(\.isForUploading)
        guard wanted.contains(where: \.isForUploading) else { return }
        do {
            for (index, item) in wanted.enumerated() where item.isForUploading {
                self.urls[index] = try copy(urls[index])
            }
        } catch {
            remove()
            throw error
        }
    }

    private mutating func copy(_ url: URL) throws -> URL {
        // A missing item is no error here: the reader finds that out.
        guard FileManager.default.fileExists(atPath: url.path) else { return url }
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "coordinated-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        directories.append(directory)
        let copy = directory.appendingPathComponent(url.lastPathComponent, isDirectory: url.hasDirectoryPath)
        try FileManager.default.copyItem(at: url, to: copy)
        return copy
    }

    /// Removes the copies. An open copy, or one that the reader has moved away, stays.
    func remove() {
        for directory in directories { try? FileManager.default.removeItem(at: directory) }
    }
}
