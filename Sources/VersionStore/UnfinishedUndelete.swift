// An undeletion of a directory in progress, with the state to continue it after an error, a kill or a power cut.

internal import GRDB
import VersionModel

/// A directory that came back before all of its deleted contents. Kept as a setting until everything is back.
public struct UnfinishedUndelete: Hashable, Sendable {
    /// A directory that gets its mode and times again after everything deleted from it is back.
    public struct OpenDirectory: Hashable, Sendable {
        public var file: FileID
        /// nil if it did not have to be changed.
        public var mode: UInt32?
        public var accessed: Timestamp
        public var modified: Timestamp

        public init(file: FileID, mode: UInt32?, accessed: Timestamp, modified: Timestamp) {
            self.file = file
            self.mode = mode
            self.accessed = accessed
            self.modified = modified
        }
    }

    /// The deletion of the directory itself, whose row is gone after its return.
    public var id: DeletionID
    public var group: DeletionID
    /// The directory.
    public var file: FileID
    /// Its path at the deletion, and the user that undeletes it.
    public var path: TreePath
    public var user: UInt32
    /// From the top down.
    public var open: [OpenDirectory] = []

    public init(_ deletion: Deletion, user: UInt32) {
        (id, group, file, path) = (deletion.id, deletion.group, deletion.file, deletion.path)
        self.user = user
    }

    static let keyPrefix = "undelete:"
    private var key: String { Self.keyPrefix + id.hex }

    /// The mutation that records the present state.
    public var kept: VersionStore.Mutation { .setting(key: key, value: encoded) }

    /// The same over facts.
    public var keptChange: FactChange { .setting(key: key, value: encoded) }

    private var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.identity(id)
        writer.identity(group)
        writer.fixed(file.number)
        writer.string(path.bytes)
        writer.fixed(user)
        writer.count(UInt64(open.count))
        for directory in open {
            writer.fixed(directory.file.number)
            writer.optional(directory.mode) { $0.fixed($1) }
            writer.time(directory.accessed)
            writer.time(directory.modified)
        }
        return writer.bytes
    }

    /// The mutation that ends it.
    public var forgotten: VersionStore.Mutation { .setting(key: key, value: nil) }
    public var forgottenChange: FactChange { .setting(key: key, value: nil) }

    fileprivate static func all(in database: Database) throws -> [UnfinishedUndelete] {
        try SQLStatement(
            database, "SELECT value FROM setting WHERE key >= ? AND key < ? ORDER BY key",
            .text(keyPrefix), .text("undelete;")
        ).rows { try? UnfinishedUndelete($0.blob(0)) }
    }

    init(_ bytes: [UInt8]) throws(CodingError) {
        var reader = ByteReader(bytes)
        (id, group) = (try reader.identity(), try reader.identity())
        file = FileID(try reader.fixed64())
        path = try reader.path()
        user = try reader.fixed32()
        for _ in 0..<(try reader.count(ofAtLeast: 25)) {
            open.append(
                OpenDirectory(
                    file: FileID(try reader.fixed64()),
                    mode: try reader.optional { (reader) throws(CodingError) in try reader.fixed32() },
                    accessed: try reader.time(), modified: try reader.time()))
        }
    }
}

extension VersionStore {
    /// The undeletions in progress.
    public func unfinishedUndeletes() throws(StoreError) -> [UnfinishedUndelete] {
        try read { try UnfinishedUndelete.all(in: $0) }
    }
}

extension FactStore {
    /// The undeletions in progress.
    public func unfinishedUndeletes() throws(StoreError) -> [UnfinishedUndelete] {
        try read { try UnfinishedUndelete.all(in: $0) }
    }
}
