// One event of a log: a change of a name, with its time and user.

import FoundationEssentials
import VersionModel

/// A row of the change feed (with `sequence`), a stored version, or an entry of the deleted area (with `deletion`).
public struct LoggedEvent: Hashable, Sendable, Codable {
    public var time: Timestamp
    public var event: ChangeEvent
    /// Relative to the container's root: for a row the path at that moment, for a version the present path.
    public var path: Path
    /// For a rename, the path before it.
    public var from: Path?
    public var item: ItemID?
    public var version: VersionID?
    /// The entry of the deleted area.
    public var deletion: DeletionID?
    /// The type of the deleted item, if the entry has it.
    public var type: EntryType?
    /// Empty for actions of the container itself.
    public var user: String
    /// Empty if unknown.
    public var program: String
    /// 0 if unknown.
    public var pid: Int32
    /// The number of the row in the change feed.
    public var sequence: UInt64?

    public init(
        time: Timestamp, event: ChangeEvent, path: Path, from: Path? = nil, item: ItemID? = nil,
        version: VersionID? = nil, deletion: DeletionID? = nil, type: EntryType? = nil, user: String = "",
        program: String = "", pid: Int32 = 0, sequence: UInt64? = nil
    ) {
        self.time = time
        self.event = event
        self.path = path
        self.from = from
        self.item = item
        self.version = version
        self.deletion = deletion
        self.type = type
        self.user = user
        self.program = program
        self.pid = pid
        self.sequence = sequence
    }

    /// A row of the change feed.
    public init(sequence: UInt64, _ change: Change) {
        self.init(
            time: change.time, event: change.event, path: Path(change.path), from: change.from.map { Path($0) },
            item: change.item, version: change.version, user: change.author?.user ?? "",
            program: change.author?.program ?? "", pid: change.author?.process ?? 0, sequence: sequence)
    }

    /// The save that made a version.
    public init(_ version: Version, path: TreePath) {
        self.init(
            time: version.saved, event: .saved, path: Path(path), item: version.item, version: version.id,
            user: version.author.user, program: version.author.program, pid: version.author.process)
    }

    /// The deletion of an entry.
    public init(_ deletion: Deletion) {
        self.init(
            time: deletion.deleted, event: .deleted, path: Path(deletion.path), item: deletion.item,
            deletion: deletion.id, type: deletion.type, user: deletion.author.user, program: deletion.author.program,
            pid: deletion.author.process)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        time = try container.decode(Timestamp.self, forKey: "time")
        event = try container.decode(ChangeEvent.self, forKey: "event")
        path = try container.decodePath(forKey: "path")
        from = try container.decodePathIfPresent(forKey: "from")
        item = try container.decodeIfPresent(ItemID.self, forKey: "item")
        version = try container.decodeIfPresent(VersionID.self, forKey: "version")
        deletion = try container.decodeIfPresent(DeletionID.self, forKey: "deletion")
        type = try container.decodeIfPresent(EntryType.self, forKey: "type")
        user = try container.decode(String.self, forKey: "user")
        program = try container.decode(String.self, forKey: "program")
        pid = try container.decode(Int32.self, forKey: "pid")
        sequence = try container.decodeIfPresent(UInt64.self, forKey: "sequence")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(time, forKey: "time")
        try container.encode(event, forKey: "event")
        try container.encode(path: path, forKey: "path")
        try container.encodeIfPresent(path: from, forKey: "from")
        try container.encodeIfPresent(item, forKey: "item")
        try container.encodeIfPresent(version, forKey: "version")
        try container.encodeIfPresent(deletion, forKey: "deletion")
        try container.encodeIfPresent(type, forKey: "type")
        try container.encode(user, forKey: "user")
        try container.encode(program, forKey: "program")
        try container.encode(pid, forKey: "pid")
        try container.encodeIfPresent(sequence, forKey: "sequence")
    }
}
