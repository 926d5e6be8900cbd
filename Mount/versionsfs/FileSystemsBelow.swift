// The file systems that a container's directory consists of: its own, and those mounted below it.

import ControlProtocol
import Glibc
import SystemPackage

/// Reads the kernel's table of mounts, for `status`.
enum FileSystemsBelow {
    private struct Mount {
        var point: [UInt8]
        var type: String
        /// What was mounted: for ours the container's directory.
        var source: [UInt8]
    }

    /// The container's own file system first, then what is mounted below, which is passed through without versions.
    /// - Parameters:
    ///   - probe: what was found out by trying.
    ///   - passesThrough: whether the kernel reads and writes the files below by itself.
    static func list(
        _ directory: FilePath, _ probe: FileSystemProbe, canReflink: Bool, passesThrough: Bool
    ) -> [ContainerStatus.FileSystem] {
        let path = directory.bytes
        let prefix = path == [47] ? path : path + [47]
        let mounts = table().filter { $0.type != "fuse.versionsfs" }
        let own = mounts.last {
            path == $0.point || $0.point == [47] || path.starts(with: $0.point + [47]) && isLongest($0, mounts, path)
        }
        let can = ["versions"] + (canReflink ? ["reflink"] : []) + (passesThrough ? ["passthrough"] : []) + probe.words
        let root = ContainerStatus.FileSystem(path: Path(bytes: []), type: own?.type ?? "unknown", can: can)
        return [root] + mounts.filter { $0.point.starts(with: prefix) }.map { mount in
            .init(path: Path(bytes: Array(mount.point.dropFirst(prefix.count))), type: mount.type, can: [])
        }
    }

    /// Whether the topmost mount at exactly this path is one of ours.
    static func isOurs(_ point: [UInt8]) -> Bool { table().last { $0.point == point }?.type == "fuse.versionsfs" }

    /// The directories and mount points of containers that are mounted now.
    static var ours: [(directory: [UInt8], point: [UInt8])] {
        table().filter { $0.type == "fuse.versionsfs" }.map { ($0.source, $0.point) }
    }

    private static func isLongest(_ mount: Mount, _ mounts: [Mount], _ path: [UInt8]) -> Bool {
        !mounts.contains {
            $0.point.count > mount.point.count && (path == $0.point || path.starts(with: $0.point + [47]))
        }
    }

    private static func table() -> [Mount] {
        guard let file = fopen("/proc/self/mountinfo", "re") else { return [] }
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
                point: unescaped(fields[4]), type: String(decoding: fields[dash + 1], as: UTF8.self),
                source: fields.count > dash + 2 ? unescaped(fields[dash + 2]) : [])
        }
    }

    /// Blanks and the like are written as `\\040`.
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
