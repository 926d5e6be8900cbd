// The kernel's mount table: the file systems in a container's directory, and the mount points of containers.

import ControlProtocol
import Glibc
import SystemPackage

/// Reads the kernel's table of mounts.
enum FileSystemsBelow {
    private struct Mount {
        /// `major:minor`
        var device: [UInt8]
        /// The part of the file system that the mount shows.
        var root: [UInt8]
        var point: [UInt8]
        var type: String
        /// The mounted source: the container's directory for a mount of this program.
        var source: [UInt8]
        /// The options of the file system, shared by all its mounts.
        var options: [String]
        var isOurs: Bool { type == "fuse.versionsfs" }
    }

    /// The container's own file system first, then the mounts below it, which are passed through without versions.
    /// - Parameters:
    ///   - probe: the result of the feature test.
    ///   - passesThrough: whether the kernel reads and writes the files below itself.
    static func list(
        _ directory: FilePath, _ probe: FileSystemProbe, canReflink: Bool, passesThrough: Bool
    ) -> [ContainerStatus.FileSystem] {
        let path = directory.bytes
        let prefix = path == [47] ? path : path + [47]
        let mounts = table().filter { !$0.isOurs }
        let own = mounts.last {
            path == $0.point || $0.point == [47] || path.starts(with: $0.point + [47]) && isLongest($0, mounts, path)
        }
        let can = ["versions"] + (canReflink ? ["reflink"] : []) + (passesThrough ? ["passthrough"] : []) + probe.words
        let root = ContainerStatus.FileSystem(path: Path(bytes: []), type: own?.type ?? "unknown", can: can)
        return [root] + mounts.filter { $0.point.starts(with: prefix) }.map { mount in
            .init(path: Path(bytes: Array(mount.point.dropFirst(prefix.count))), type: mount.type, can: [])
        }
    }

    /// Whether the topmost mount at exactly this path is a mount of this program.
    static func isOurs(_ point: [UInt8]) -> Bool { table().last { $0.point == point }?.isOurs == true }

    /// The device number of the topmost mount at exactly this path, if that is a mount of this program.
    static func device(of point: [UInt8]) -> [UInt8]? {
        table().last { $0.point == point }.flatMap { $0.isOurs ? $0.device : nil }
    }

    /// Whether a file system is mounted anywhere, as far as this process sees.
    static func isMounted(_ device: [UInt8]) -> Bool { table().contains { $0.device == device } }

    /// The options of the topmost file system at exactly this path, such as `lazytime`.
    static func options(of point: [UInt8]) -> [String] { table().last { $0.point == point }?.options ?? [] }

    /// The directories and mount points of the mounted containers.
    static var ours: [(directory: [UInt8], point: [UInt8])] {
        table().filter(\.isOurs).map { ($0.source, $0.point) }
    }

    /// The places where a process sees a container mounted, under any bind of its directory; -1 stands for this
    /// process.
    static func points(of directory: FilePath, seenBy process: Int32 = -1) -> [[UInt8]] {
        let own = table()
        let seen = process < 0 ? own : table("/proc/\(process)/mountinfo")
        let wanted = location(of: directory.bytes, in: own)
        return seen.filter { mount in
            mount.isOurs
                && (mount.source == directory.bytes || wanted != nil && location(of: mount.source, in: seen) == wanted)
        }.map(\.point)
    }

    /// The mount point of the foreign file system that holds a path in a container; nil if the path is on the
    /// container's own.
    static func foreignPoint(of path: [UInt8], in container: [UInt8]) -> [UInt8]? {
        let mounts = table()
        let own = location(of: container, in: mounts)?.device
        let begun = mounts.lastIndex { $0.isOurs && $0.point == container } ?? mounts.endIndex
        return mounts.enumerated().last { index, mount in
            !mount.isOurs && mount.point.starts(with: container + [47])
                && (path == mount.point || path.starts(with: mount.point + [47]))
                // A mount from before the container's start belongs to the container; a bind on top of its mount covers
                // it.
                && (mount.device != own || index > begun)
        }?.element.point
    }

    /// A path in its file system.
    private struct Location: Equatable {
        var device: [UInt8]
        var path: [UInt8]
    }

    /// The location of a path below the mounts of this program.
    private static func location(of path: [UInt8], in mounts: [Mount]) -> Location? {
        var nearest: Mount?
        // The later of two mounts covers the other.
        for mount in mounts where !mount.isOurs && mount.point.count >= nearest?.point.count ?? 0 {
            if mount.point == [47] || path == mount.point || path.starts(with: mount.point + [47]) { nearest = mount }
        }
        return nearest.map { mount in
            let names = mount.root.split(separator: 47) + path.dropFirst(mount.point.count).split(separator: 47)
            return Location(device: mount.device, path: Array(names.joined(separator: [47])))
        }
    }

    private static func isLongest(_ mount: Mount, _ mounts: [Mount], _ path: [UInt8]) -> Bool {
        !mounts.contains {
            $0.point.count > mount.point.count && (path == $0.point || path.starts(with: $0.point + [47]))
        }
    }

    private static func table(_ path: String = "/proc/self/mountinfo") -> [Mount] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return bytes.split(separator: 10).compactMap { line in
            // `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`
            let fields = line.split(separator: 32)
            guard fields.count > 6, let dash = fields.firstIndex(where: { $0.elementsEqual([45]) }),
                fields.count > dash + 1
            else { return nil }
            return Mount(
                device: Array(fields[2]), root: unescaped(fields[3]), point: unescaped(fields[4]),
                type: String(decoding: fields[dash + 1], as: UTF8.self),
                source: fields.count > dash + 2 ? unescaped(fields[dash + 2]) : [],
                options: fields.count > dash + 3
                    ? fields[dash + 3].split(separator: 44).map { String(decoding: $0, as: UTF8.self) } : [])
        }
    }

    /// Spaces and some other characters are written as `\\040`.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == 92, digits.count == 3, let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8) {
                result.append(code)
                rest = rest.dropFirst(3)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
