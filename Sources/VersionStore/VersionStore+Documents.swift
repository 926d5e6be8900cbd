// The part of the catalog that a container in use reads once per directory and keeps in memory.

internal import GRDB
import VersionModel

/// A recorded document for the live container.
public struct StoredDocument: Sendable {
    public var item: Item
    public var current: Version
    /// Whether another version, of this item or another, has the same content.
    public var sharesContent: Bool
}

extension VersionStore {
    /// The recorded documents of a directory with their current versions.
    public func documents(in directory: FileID) throws(StoreError) -> [StoredDocument] {
        try read { database in
            try Query.items(in: directory, database).compactMap { item in
                guard let current = try Query.version(item.current, database) else { return nil }
                let shares = try Query.versions(sharing: current.content, database).contains { $0.id != current.id }
                return StoredDocument(item: item, current: current, sharesContent: shares)
            }
        }
    }

    /// The recorded documents whose last recorded files are among these. Reads all items.
    public func items(ofFiles files: Set<FileID>) throws(StoreError) -> [Item] {
        try read { try Query.items(ofFiles: files, $0) }
    }

    /// All recorded directories.
    public func directories() throws(StoreError) -> [Directory] { try read { try Query.allDirectories($0) } }
}
