// Adding, bringing back and removing versions. What a call takes out of a file's place is kept as a version.

import ControlProtocol
import Foundation
import Glibc
import VersionModel
import VersionsClient

extension NSFileVersion {
    /// How a version is added.
    public struct AddingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The file with the contents is not needed afterwards: it is removed, unless it is a version.
        public static let byMoving = AddingOptions(rawValue: 1)
    }

    /// How a version replaces an item.
    public struct ReplacingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The version is not needed afterwards: it is removed.
        public static let byMoving = ReplacingOptions(rawValue: 1)
    }

    // MARK: - Adding

    /// Adds a version with contents of their own to a file, which stays as it is. Do it in a coordinated write of the
    /// file.
    /// - Parameters:
    ///   - url: the file that gets the version.
    ///   - contentsURL: any file that can be read, perhaps the same one.
    ///   - options: whether the contents may be taken away from where they are.
    /// - Throws: `CocoaError(.featureUnsupported)` outside of a container.
    public class func addOfItem(
        at url: URL, withContentsOf contentsURL: URL, options: AddingOptions = []
    ) throws -> NSFileVersion {
        guard let item = try served(url) else { throw CocoaError(.featureUnsupported, userInfo: [NSURLErrorKey: url]) }
        // What lies under `.versions` is no file of the container's: it is copied as what lies elsewhere is.
        let isVersion = item.path(of: contentsURL)?.isUnderVersions ?? false
        let isElsewhere = isVersion || item.path(of: contentsURL) == nil
        let temporary = isElsewhere ? temporaryFile(beside: url) : nil
        defer { if let temporary { try? FileManager.default.removeItem(at: temporary) } }
        if let temporary { try FileManager.default.copyItem(at: contentsURL, to: temporary) }
        guard let contents = item.path(of: temporary ?? contentsURL) else { throw CocoaError(.fileReadNoSuchFile) }
        let added = try answer(url) { () throws(ControlError) in
            try item.client.callAndWait(AddVersionRequest(.path(item.path), contents: contents))
        }
        if options.contains(.byMoving), !isVersion, contentsURL.standardizedFileURL != url.standardizedFileURL {
            try FileManager.default.removeItem(at: contentsURL)
        }
        return NSFileVersion(added, of: url, in: item)
    }

    /// A new, empty directory for making the contents of a version in; the caller removes it.
    public class func temporaryDirectoryURLForNewVersionOfItem(at url: URL) -> URL {
        let parent = FileManager.default.temporaryDirectory
        let directory = parent.appendingPathComponent("NSFileVersion-\(UUID().uuidString)", isDirectory: true)
        try? FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return directory
    }

    /// A name that counts as this process's own scaffolding: no versions are kept of it, and nobody is told.
    private class func temporaryFile(beside url: URL) -> URL {
        let name = ".\(UUID().uuidString.prefix(8)).tmp.\(getpid())"
        return url.deletingLastPathComponent().appendingPathComponent(name)
    }

    // MARK: - Bringing back

    /// Puts the version's content into a file: its own, which makes it current again, or another one, which is made if
    /// it is not there. What was in the file stays a version of it; conflicts stay until they are resolved.
    /// - Returns: the file; it keeps the name that was given.
    @discardableResult
    public func replaceItem(at url: URL, options: ReplacingOptions = []) throws -> URL {
        guard let info, let item else {
            if url.standardizedFileURL != documentURL.standardizedFileURL { try Self.copy(self.url, over: url) }
            return url
        }
        let target = item.path(of: url)
        let isThere = (try? url.checkResourceIsReachable()) == true
        // By its identity, not by its name: the document may have another one by now, and another file this one.
        if isThere ? isSameItem(url, info) : wasLast(at: target, info, item) {
            try Self.answer(url) { () throws(ControlError) in
                _ = try item.client.callAndWait(RestoreRequest(.id(info.item.hex), version: .id(info.id.hex), to: nil))
            }
        } else if let target, !isThere {
            try Self.answer(url) { () throws(ControlError) in
                let request = RestoreRequest(.id(info.item.hex), version: .id(info.id.hex), to: target)
                _ = try item.client.callAndWait(request)
            }
        } else {
            try Self.copy(self.url, over: url)
        }
        if options.contains(.byMoving), info.kind != .current { try remove() }
        return url
    }

    private func isSameItem(_ url: URL, _ info: VersionInfo) -> Bool {
        guard let (versions, _) = Self.history(of: url) else { return false }
        return versions.first?.item == info.item
    }

    /// Whether the document was there last, where nothing is now: then it comes back, with all its versions.
    private func wasLast(at target: Path?, _ info: VersionInfo, _ item: ServedItem) -> Bool {
        let now = try? item.client.callAndWait(ShowRequest(.id(info.item.hex), version: .id(info.id.hex)))
        return target != nil && now?.path == target
    }

    /// Copies a file over another one as programs save: written whole beside it, then renamed.
    private class func copy(_ source: URL, over url: URL) throws {
        let temporary = temporaryFile(beside: url)
        try FileManager.default.copyItem(at: source, to: temporary)
        let old = try? FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions]
        // A version can be read only; the file that it becomes is written as others are.
        try? FileManager.default.setAttributes([.posixPermissions: old ?? 0o644], ofItemAtPath: temporary.path)
        guard rename(temporary.path, url.path) == 0 else {
            let error = ControlError(system: "it cannot be replaced", path: Path(url))
            try? FileManager.default.removeItem(at: temporary)
            throw error.cocoa(url)
        }
    }

    // MARK: - Removing

    /// Removes the version for good. One that is in conflict counts as resolved.
    /// - Throws: for the current version, which is the file.
    public func remove() throws {
        guard let info, let item else { throw CocoaError(.featureUnsupported, userInfo: [NSURLErrorKey: documentURL]) }
        try Self.answer(documentURL) { () throws(ControlError) in
            _ = try item.client.callAndWait(PurgeRequest(.id(info.item.hex), version: .id(info.id.hex), force: true))
        }
    }

    /// Removes the older versions of a file for good. Those in a conflict that nobody has resolved stay, and so does
    /// what they are compared with.
    public class func removeOtherVersionsOfItem(at url: URL) throws {
        guard let item = try served(url) else { return }
        do throws(ControlError) {
            _ = try item.client.callAndWait(PurgeRequest(.path(item.path), version: nil, force: true))
        } catch {
            guard error.code == .nothingToDo else { throw error.cocoa(url) }
        }
    }

    // MARK: - Help for all

    private class func served(_ url: URL) throws -> ServedItem? {
        try answer(url) { () throws(ControlError) in try ServedItem.find(url) }
    }

    /// Runs a call of the daemon; what it throws is an error as Foundation has them.
    private class func answer<Result>(_ url: URL, _ body: () throws(ControlError) -> Result) throws -> Result {
        do throws(ControlError) {
            return try body()
        } catch {
            throw error.cocoa(url)
        }
    }
}

extension Path {
    /// Whether a path of a container leads to versions, and not to files.
    var isUnderVersions: Bool { bytes.split(separator: 47).contains { $0.elementsEqual(".versions".utf8) } }
}
