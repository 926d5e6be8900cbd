// The scopes of a metadata query: Apple's constants, and directories by URL or path.

import ControlProtocol
import Foundation
import VersionsClient

/// The directories of some scopes.
struct MetadataScopes {
    struct Scope: Hashable {
        var directory: URL
        /// `documents` or `data`; nil: both.
        var scope: String?

        /// A predicate limited to the scope.
        func narrowed(_ predicate: NSMetadataPredicate) -> NSMetadataPredicate {
            guard let scope else { return predicate }
            return .and([.comparison(.scope, .equal, .text(scope)), predicate])
        }
    }

    let directories: [Scope]

    init(_ scopes: [Any]) {
        var directories: [URL] = []
        var words: Set<String> = []
        for scope in scopes {
            switch scope {
            case let url as URL: directories.append(url)
            case let name as String where name == NSMetadataQueryUbiquitousDocumentsScope: words.insert("documents")
            case let name as String where name == NSMetadataQueryUbiquitousDataScope: words.insert("data")
            case let name as String where name == NSMetadataQueryUserHomeScope:
                directories += Self.mounted(around: FileManager.default.homeDirectoryForCurrentUser)
            case let name as String where Self.computers.contains(name): directories += Self.mounted(around: nil)
            case let path as String where path.hasPrefix("/"): directories.append(URL(fileURLWithPath: path))
            default: break
            }
        }
        if scopes.isEmpty { words = ["documents", "data"] }
        var found = directories.map { Scope(directory: $0.standardizedFileURL, scope: nil) }
        if !words.isEmpty, let container = FileManager.default.url(forUbiquityContainerIdentifier: nil) {
            found.append(Scope(directory: container, scope: words.count == 1 ? words.first : nil))
        }
        // A directory inside another scope is searched with that one.
        self.directories = found.enumerated().filter { index, scope in
            !found.enumerated().contains { other, wider in
                other != index && wider.scope == nil && (other < index || wider.directory != scope.directory)
                    && (scope.directory.path + "/").hasPrefix(wider.directory.path + "/")
            }
        }.map(\.element)
    }

    private static let computers = [NSMetadataQueryLocalComputerScope, NSMetadataQueryIndexedLocalComputerScope]

    /// The containers of this user, or only those in a directory; the directory itself if it is in a container.
    private static func mounted(around directory: URL?) -> [URL] {
        guard let directory = directory?.resolvingSymlinksInPath() else { return mounts }
        if FileManager.default.isUbiquitousItem(at: directory) { return [directory] + mounted(in: directory) }
        return mounted(in: directory)
    }

    private static func mounted(in directory: URL) -> [URL] {
        mounts.filter { ($0.path + "/").hasPrefix(directory.path == "/" ? "/" : directory.path + "/") }
    }

    private static var mounts: [URL] {
        let ours = MountTable.current().filter { $0.isOurs && $0.mayBeEntered && $0.root.bytes == [47] }
        return ours.map { URL(file: $0.point, true) }
    }
}
