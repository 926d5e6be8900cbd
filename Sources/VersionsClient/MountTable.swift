// The mounts of this process, and the mount of a path.

import ControlProtocol
import Glibc

/// The kernel's mount table.
public enum MountTable {
    /// One mount.
    public struct Mount: Hashable, Sendable {
        public var id: Int
        /// The file system, as `major:minor`: equal for all mounts of one container.
        public var device: String
        /// The mounted part of the file system: `/`, or a directory for a bind mount.
        public var root: Path
        /// The mount point.
        public var point: Path
        public var type: String
        /// The mounted source: the container's directory for a mount of VersionsFS.
        public var source: Path
        /// The user of the mount, if the file system shows it, as FUSE does.
        public var owner: UInt32?
        /// Whether its owner lets other users in.
        public var isOpen = false

        /// Whether it is a mount of VersionsFS.
        public var isOurs: Bool { type == "fuse.versionsfs" }

        /// Whether its owner admits this user. The daemon is not called.
        public var mayBeEntered: Bool { isOpen || owner == nil || owner == geteuid() }

        /// Whether an absolute path is at or below the mount point, by its text.
        public func contains(_ path: Path) -> Bool {
            point.bytes == [47] || path.bytes == point.bytes || path.bytes.starts(with: point.bytes + [47])
        }

        /// Whether the mount point is at or below an absolute path, by their texts.
        public func isAt(orBelow path: Path) -> Bool {
            path.bytes == [47] || point == path || point.bytes.starts(with: path.bytes + [47])
        }

        /// The place of an absolute path in the container. A bind mount of a directory of the container shows less of
        /// it: the container's root is above the mount point, at a path that this process cannot see.
        func place(of path: Path, state: ContainerPlace.State) -> ContainerPlace {
            let below = path.relative(to: point)
            let names = root.bytes.split(separator: 47) + below.bytes.split(separator: 47)
            return ContainerPlace(root: point, path: Path(bytes: names.joined(separator: [47])), state: state)
        }
    }

    /// The mounts in the order of their creation.
    public static func current() -> [Mount] {
        guard let bytes = readSmallFile("/proc/self/mountinfo") else { return [] }
        return bytes.split(separator: 10).compactMap { parse($0) }
    }

    /// The mount of an existing path.
    static func mount(of path: Path) -> Mount? {
        let descriptor = path.withCString { open($0, pathOnly | O_CLOEXEC | O_NOFOLLOW) }
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let bytes = readSmallFile("/proc/self/fdinfo/\(descriptor)"),
            let line = bytes.split(separator: 10).first(where: { $0.starts(with: "mnt_id:".utf8) }),
            let id = Int(String(decoding: line.dropFirst(7), as: UTF8.self).filter(\.isNumber))
        else { return nil }
        return current().first { $0.id == id }
    }

    /// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
    static func parse(_ line: some Sequence<UInt8>) -> Mount? {
        let fields = Array(line).split(separator: 32)
        guard fields.count > 6, let dash = fields.dropFirst(6).firstIndex(where: { $0.elementsEqual([45]) }),
            fields.count > dash + 2, let id = Int(String(decoding: fields[0], as: UTF8.self))
        else { return nil }
        let options = fields.count > dash + 3 ? words(fields[dash + 3]) : []
        return Mount(
            id: id, device: String(decoding: fields[2], as: UTF8.self), root: unescape(fields[3]),
            point: unescape(fields[4]),
            type: String(decoding: fields[dash + 1], as: UTF8.self), source: unescape(fields[dash + 2]),
            owner: owner(options), isOpen: options.contains("allow_other"))
    }

    /// The options of the file system.
    private static func words(_ field: ArraySlice<UInt8>) -> [Substring] {
        String(decoding: field, as: UTF8.self).split(separator: ",")
    }

    /// The value of `user_id=` in the options.
    private static func owner(_ options: [Substring]) -> UInt32? {
        options.first { $0.hasPrefix("user_id=") }.flatMap { UInt32($0.dropFirst("user_id=".count)) }
    }

    /// Spaces, newlines and backslashes are written as `\040`.
    private static func unescape(_ field: ArraySlice<UInt8>) -> Path {
        var result: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == 92, digits.count == 3, digits.allSatisfy({ (48...55).contains($0) }) {
                result.append(UInt8(truncatingIfNeeded: digits.reduce(0) { $0 * 8 + Int($1 - 48) }))
                rest = rest.dropFirst(3)
            } else {
                result.append(byte)
            }
        }
        return Path(bytes: result)
    }
}

/// O_PATH, which the standard module leaves out; the same number on every machine that Swift runs on.
private let pathOnly: CInt = 0o10000000

/// The content of a file in /proc; nil if it cannot be read.
func readSmallFile(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return count == 0 ? bytes : nil }
        bytes.append(contentsOf: buffer.prefix(count))
    }
}
