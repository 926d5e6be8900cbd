// Adds, restores and removes versions. Content that a call replaces stays as a version.

import ControlProtocol
import Foundation
import Glibc
import VersionModel
import VersionsClient

extension NSFileVersion {
    /// The options for a new version.
    public struct AddingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The file with the contents is no longer needed: it is removed, unless it is a version.
        public static let byMoving = AddingOptions(rawValue: 1)
    }

    /// The options for a restored version.
    public struct ReplacingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The version is no longer needed: it is removed.
        public static let byMoving = ReplacingOptions(rawValue: 1)
    }

    // MARK: - Adding

    /// Adds a version with separate contents to a file. The file itself stays unchanged. Call it in a coordinated write
    /// of the file.
    /// - Parameters:
    ///   - url: the file of the new version.
    ///   - contentsURL: any readable file, possibly the same one.
    ///   - options: whether the contents' file may be moved.
    /// - Throws: `CocoaError(.featureUnsupported)` outside of a container.
    public class func addOfItem(
        at url: URL, withContentsOf contentsURL: URL, options: AddingOptions = []
    ) throws -> NSFileVersion {
        guard let item = try served(url) else { throw CocoaError(.featureUnsupported, userInfo: [NSURLErrorKey: url]) }
        // A path under `.versions` is no file of the container, so it is copied like a file from elsewhere.
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

    /// A new, empty directory for the contents of a new version. The caller removes it.
    public class func temporaryDirectoryURLForNewVersionOfItem(at url: URL) -> URL {
        let parent = FileManager.default.temporaryDirectory
        let directory = parent.appendingPathComponent("NSFileVersion-\(UUID().uuidString)", isDirectory: true)
        try? FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return directory
    }

    /// A temporary name of this process: the container keeps no versions of it, and notifies no presenter.
    private class func temporaryFile(beside url: URL) -> URL {
        let name = ".\(UUID().uuidString.prefix(8)).tmp.\(getpid())"
        return url.deletingLastPathComponent().appendingPathComponent(name)
    }

    // MARK: - Restoring

    /// Writes the version's content into a file: its own, where the version becomes current again, or another one,
    /// which is created if it does not exist. The file's former content stays a version of it; conflicts stay until
    /// they are resolved.
    /// - Returns: the file, under the given name.
    @discardableResult
    public func replaceItem(at url: URL, options: ReplacingOptions = []) throws -> URL {
        guard let info, let item else {
            if url.standardizedFileURL != documentURL.standardizedFileURL { try Self.copy(self.url, over: url) }
            return url
        }
        let target = item.path(of: url)
        let isThere = (try? url.checkResourceIsReachable()) == true
        // By identity, not by name: the document may have another name by now, and another file may have this one.
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

    /// Whether a missing path was the document's last place: then the document comes back with all its versions.
    private func wasLast(at target: Path?, _ info: VersionInfo, _ item: ServedItem) -> Bool {
        let now = try? item.client.callAndWait(ShowRequest(.id(info.item.hex), version: .id(info.id.hex)))
        return target != nil && now?.path == target
    }

    /// Copies a file over another one like a safe save: written completely beside it, then renamed.
    private class func copy(_ source: URL, over url: URL) throws {
        let temporary = temporaryFile(beside: url)
        try FileManager.default.copyItem(at: source, to: temporary)
        let old = try? FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions]
        // A version is read-only; the new file has normal permissions.
        try? FileManager.default.setAttributes([.posixPermissions: old ?? 0o644], ofItemAtPath: temporary.path)
        guard rename(temporary.path, url.path) == 0 else {
            let error = ControlError(system: "it cannot be replaced", path: Path(url))
            try? FileManager.default.removeItem(at: temporary)
            throw error.cocoa(url)
        }
    }

    // MARK: - Removing

    /// Removes the version for good. A version in conflict counts as resolved.
    /// - Throws: for the current version, which is the file.
    public func remove() throws {
        guard let info, let item else { throw CocoaError(.featureUnsupported, userInfo: [NSURLErrorKey: documentURL]) }
        try Self.answer(documentURL) { () throws(ControlError) in
            _ = try item.client.callAndWait(PurgeRequest(.id(info.item.hex), version: .id(info.id.hex), force: true))
        }
    }

    /// Removes the older versions of a file for good. Versions in an unresolved conflict stay, and so do their bases.
    public class func removeOtherVersionsOfItem(at url: URL) throws {
        guard let item = try served(url) else { return }
        do throws(ControlError) {
            _ = try item.client.callAndWait(PurgeRequest(.path(item.path), version: nil, force: true))
        } catch {
            guard error.code == .nothingToDo else { throw error.cocoa(url) }
        }
    }

    // MARK: - Helpers

    private class func served(_ url: URL) throws -> ServedItem? {
        try answer(url) { () throws(ControlError) in try ServedItem.find(url) }
    }

    /// Runs a call of the daemon and converts its errors to Foundation's.
    private class func answer<Result>(_ url: URL, _ body: () throws(ControlError) -> Result) throws -> Result {
        do throws(ControlError) {
            return try body()
        } catch {
            throw error.cocoa(url)
        }
    }
}

extension Path {
    /// Whether a path of a container is in the tree of versions.
    var isUnderVersions: Bool { bytes.split(separator: 47).contains { $0.elementsEqual(".versions".utf8) } }
}
