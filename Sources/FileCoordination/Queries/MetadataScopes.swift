// Where a metadata query looks: Apple's scopes, and directories by URL or path.

import Foundation

/// The directories of some scopes.
struct MetadataScopes {
    struct Scope: Hashable {
        var directory: URL
        /// `documents` or `data`; nil: both.
        var scope: String?

        /// A predicate as far as the scope goes.
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
            case let path as String where path.hasPrefix("/"): directories.append(URL(fileURLWithPath: path))
            default: break
            }
        }
        if scopes.isEmpty { words = ["documents", "data"] }
        var found = directories.map { Scope(directory: $0.standardizedFileURL, scope: nil) }
        if !words.isEmpty, let container = FileManager.default.url(forUbiquityContainerIdentifier: nil) {
            found.append(Scope(directory: container, scope: words.count == 1 ? words.first : nil))
        }
        // What lies in another one is found with that.
        self.directories = found.enumerated().filter { index, scope in
            !found.enumerated().contains { other, wider in
                other != index && wider.scope == nil && (other < index || wider.directory != scope.directory)
                    && (scope.directory.path + "/").hasPrefix(wider.directory.path + "/")
            }
        }.map(\.element)
    }
}
