// Records with every field filled, for tests.

import Crypto
import VersionModel

enum Records {
    static let author = Author(userID: 1000, user: "ana", program: "vim", process: 4242)
    static let device = DeviceID.random()

    static func version(
        item: ItemID = .random(), kind: VersionKind = .history, content: ContentID = .random(), size: UInt64 = 3,
        wall: Int64 = 0
    ) -> Version {
        Version(
            id: .random(), item: item, kind: kind, content: content, size: size,
            modified: Timestamp(nanoseconds: 1_000 + wall), saved: Timestamp(nanoseconds: 2_000 + wall),
            time: HybridTime(wall: Timestamp(nanoseconds: 2_000 + wall), logical: 7), device: device, author: author,
            attributes: Attributes(mode: 0o640, owner: 1000, group: 100, accessList: [1, 2, 3]), flags: [.sealed])
    }

    static func item(_ name: FileName, directory: FileID = .root, current: VersionID = .random()) -> Item {
        Item(
            id: .random(), places: [Place(directory: directory, name: name)], current: current,
            file: .init(id: FileID(77), size: 3, modified: Timestamp(nanoseconds: 5)))
    }

    static func deletion(path: String, item: ItemID? = nil, type: EntryType = .file, deleted: Int64 = 9_000) -> Deletion
    {
        let path = TreePath(bytes: path.utf8) ?? .root
        let id = DeletionID.random()
        return Deletion(
            id: id, place: Place(directory: FileID(5), name: path.name ?? unnamed), path: path, type: type,
            file: FileID(9), item: item, size: 3, deleted: Timestamp(nanoseconds: deleted), author: author, group: id,
            parentAccessed: Timestamp(nanoseconds: 11), parentModified: Timestamp(nanoseconds: 12),
            attributes: Attributes(mode: 0o600, owner: 1, group: 2))
    }

    static func change(_ event: ChangeEvent, _ path: String, time: Int64 = 0) -> Change {
        Change(
            event: event, path: TreePath(bytes: path.utf8) ?? .root, from: TreePath(bytes: "was/here".utf8),
            item: .random(), version: .random(), time: Timestamp(nanoseconds: time), author: author,
            directory: FileID(17), fromDirectory: event == .renamed ? FileID(18) : nil)
    }

    static func hash(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }

    static let unnamed = FileName("unnamed") ?? FileName(bytes: [120]).unsafelyUnwrapped
}

/// SplitMix64, so that a failing run can be repeated with its seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
