// A version for programs: the fixed JSON of DESIGN 3.3.

import FoundationEssentials
import VersionModel

/// One version of a document.
public struct VersionInfo: Hashable, Sendable, Codable, Identifiable {
    public var id: VersionID
    public var item: ItemID
    /// The document's path relative to the container's root.
    public var path: Path
    /// The document's name.
    public var name: Path
    public var kind: VersionKind
    /// Length in bytes.
    public var size: UInt64
    /// The file's modification time at the save.
    public var modified: Timestamp
    /// The time at which the daemon noticed the save.
    public var saved: Timestamp
    /// The name of the device that saved it.
    public var device: String
    public var deviceID: DeviceID
    public var user: String
    /// The program that saved it; empty if unknown.
    public var program: String
    /// The process of that program; 0 if unknown.
    public var pid: Int32
    public var parents: [VersionID]
    /// `sha256:` and 64 hex digits; nil until it is known.
    public var hash: String?
    /// Whether the content is on this device.
    public var local: Bool
    /// Whether thinning keeps it.
    public var pinned: Bool
    /// Whether it is complete: a later write makes a new version.
    public var sealed: Bool
    /// The absolute path under the mount; for the current version the document itself.
    public var file: Path
    /// Whether a crash interrupted the save. In the JSON only when it is true.
    public var unfinished: Bool
    /// Whether its content was lost or could not be kept. In the JSON only when it is true.
    public var lost: Bool

    public init(
        id: VersionID, item: ItemID, path: Path, kind: VersionKind, size: UInt64, modified: Timestamp,
        saved: Timestamp, device: String, deviceID: DeviceID, user: String, program: String, pid: Int32,
        parents: [VersionID], hash: String?, local: Bool = true, pinned: Bool, sealed: Bool, file: Path,
        unfinished: Bool = false, lost: Bool = false
    ) {
        self.id = id
        self.item = item
        self.path = path
        self.name = path.lastComponent
        self.kind = kind
        self.size = size
        self.modified = modified
        self.saved = saved
        self.device = device
        self.deviceID = deviceID
        self.user = user
        self.program = program
        self.pid = pid
        self.parents = parents
        self.hash = hash
        self.local = local
        self.pinned = pinned
        self.sealed = sealed
        self.file = file
        self.unfinished = unfinished
        self.lost = lost
    }

    /// Makes it from the model and the facts that only the container knows: the document's path, the version's path
    /// under the mount, and the device's name.
    public init(_ version: Version, path: TreePath, file: Path, device: String) {
        self.init(
            id: version.id, item: version.item, path: Path(path), kind: version.kind, size: version.size,
            modified: version.modified, saved: version.saved, device: device, deviceID: version.device,
            user: version.author.user, program: version.author.program, pid: version.author.process,
            parents: version.parents, hash: version.hash.map(Self.text(ofHash:)),
            pinned: version.flags.contains(.pinned), sealed: version.flags.contains(.sealed), file: file,
            unfinished: version.flags.contains(.unfinished), lost: version.flags.contains(.contentLost))
    }

    /// `sha256:` and the digest in hex.
    static func text(ofHash digest: [UInt8]) -> String {
        "sha256:" + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        id = try container.decode(VersionID.self, forKey: "id")
        item = try container.decode(ItemID.self, forKey: "item")
        path = try container.decodePath(forKey: "path")
        name = try container.decodePath(forKey: "name")
        kind = try container.decode(VersionKind.self, forKey: "kind")
        size = try container.decode(UInt64.self, forKey: "size")
        modified = try container.decode(Timestamp.self, forKey: "modified")
        saved = try container.decode(Timestamp.self, forKey: "saved")
        device = try container.decode(String.self, forKey: "device")
        deviceID = try container.decode(DeviceID.self, forKey: "deviceID")
        user = try container.decode(String.self, forKey: "user")
        program = try container.decode(String.self, forKey: "program")
        pid = try container.decode(Int32.self, forKey: "pid")
        parents = try container.decode([VersionID].self, forKey: "parents")
        hash = try container.decode(String?.self, forKey: "hash")
        local = try container.decode(Bool.self, forKey: "local")
        pinned = try container.decode(Bool.self, forKey: "pinned")
        sealed = try container.decode(Bool.self, forKey: "sealed")
        file = try container.decodePath(forKey: "file")
        unfinished = try container.decodeIfPresent(Bool.self, forKey: "unfinished") ?? false
        lost = try container.decodeIfPresent(Bool.self, forKey: "lost") ?? false
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(id, forKey: "id")
        try container.encode(item, forKey: "item")
        try container.encode(path: path, forKey: "path")
        try container.encode(path: name, forKey: "name")
        try container.encode(kind, forKey: "kind")
        try container.encode(size, forKey: "size")
        try container.encode(modified, forKey: "modified")
        try container.encode(saved, forKey: "saved")
        try container.encode(device, forKey: "device")
        try container.encode(deviceID, forKey: "deviceID")
        try container.encode(user, forKey: "user")
        try container.encode(program, forKey: "program")
        try container.encode(pid, forKey: "pid")
        try container.encode(parents, forKey: "parents")
        try container.encode(hash, forKey: "hash")
        try container.encode(local, forKey: "local")
        try container.encode(pinned, forKey: "pinned")
        try container.encode(sealed, forKey: "sealed")
        try container.encode(path: file, forKey: "file")
        if unfinished { try container.encode(true, forKey: "unfinished") }
        if lost { try container.encode(true, forKey: "lost") }
    }
}
