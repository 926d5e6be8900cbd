// Values that several tests use.

import ControlProtocol
import VersionModel

enum Samples {
    /// 2026-11-21T10:33:12.345678901Z
    static let noon = Timestamp(nanoseconds: 1_795_257_192_345_678_901)

    static func version(
        _ number: UInt64, _ kind: VersionKind = .history, path: Path = Path("Notes/todo.txt"),
        file: Path = Path("/mnt/Notes/todo.txt"), program: String = "vim", minutesAgo: Int64 = 0, size: UInt64 = 1234
    ) -> VersionInfo {
        let saved = noon.advanced(byNanoseconds: -minutesAgo * 60_000_000_000)
        // Losers and current versions part from the first.
        let parent = kind == .history || number <= 1 ? max(number, 1) - 1 : 1
        return VersionInfo(
            id: VersionID(high: number << 32, low: number), item: ItemID(high: 1, low: 2), path: path, kind: kind,
            size: size, modified: saved, saved: saved, device: "desk", deviceID: DeviceID(high: 3, low: 4), user: "ann",
            program: program, pid: 1234,
            parents: parent == 0 ? [] : [VersionID(high: parent << 32, low: parent)],
            hash: nil, pinned: number == 1, sealed: true, file: file)
    }

    static let conflict = ConflictedDocument(
        path: Path("Notes/todo.txt"), current: version(3, .current),
        base: version(1, minutesAgo: 90), versions: [version(2, .conflict, program: "emacs", minutesAgo: 2)])

    static let status = ContainerStatus(
        container: ContainerID(high: 5, low: 6), mountpoint: Path("/mnt"), device: "desk", items: 12, versions: 40,
        conflicts: 1, deleted: .init(count: 2, bytes: 2048),
        space: SpaceUse(live: 1 << 20, history: 4096, deleted: 2048),
        transport: .init(passthrough: true, ring: false), log: "syslog", version: "0.1.0",
        fileSystems: [.init(path: Path(""), type: "ext4", can: ["versions", "xattr"])], notes: ["the clock jumped"])
}
