// Looking at and setting up the files of a container.

import Foundation

extension TestContainer {
    /// Writes a document, with the directories that lead to it.
    public func put(_ text: String, at file: String) throws {
        let target = self.file(file)
        try FileManager.default.createDirectory(
            atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        let descriptor = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure.call("open \(target)") }
        defer { close(descriptor) }
        try writeAll(Array(text.utf8), to: descriptor)
        if let user { chown(target, user, user) }
    }

    /// The text of a document; nil if there is none.
    public func text(of file: String) -> String? {
        FileManager.default.contents(atPath: self.file(file)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The names in a directory, sorted.
    public func names(in directory: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file(directory)).sorted()
    }

    /// The documents of a directory that `.versions` lists: those with other versions.
    public func namesWithVersions(in directory: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file(directory) + "/.versions").sorted()
    }
}
