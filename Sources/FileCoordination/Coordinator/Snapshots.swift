// What a reader `forUploading` gets: a copy that nobody writes, so that nobody has to wait for the reader.

import Foundation

/// The items of an access, those for uploading as copies of their own.
struct Snapshots {
    /// Where what is to be accessed is.
    private(set) var urls: [URL]
    private var directories: [URL] = []
    /// Whether all that is read are copies, and nothing is written.
    let areAll: Bool

    /// Copies what is to be copied, while nobody writes it.
    init(of urls: [URL], _ wanted: [Wanted]) throws {
        self.urls = urls
        areAll = !wanted.isEmpty && wanted.allSatisfy(\.isForUploading)
        guard wanted.contains(where: \.isForUploading) else { return }
        do {
            for (index, item) in wanted.enumerated() where item.isForUploading { self.urls[index] = try copy(urls[index]) }
        } catch {
            remove()
            throw error
        }
    }

    private mutating func copy(_ url: URL) throws -> URL {
        // What is gone by now is no error: the reader finds that out.
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

    /// The copies go; whoever has one open, or has moved it away, keeps it.
    func remove() {
        for directory in directories { try? FileManager.default.removeItem(at: directory) }
    }
}
