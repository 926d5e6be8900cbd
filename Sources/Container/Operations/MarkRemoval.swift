// Taking our attributes off the files of a tree: of a container that is forgotten plain files stay (DESIGN 3.1).

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

/// Removes `user.versionsfs.*` from what lies in a directory, and says what keeps it.
public struct MarkRemoval {
    /// Files and directories that were looked at.
    public private(set) var count = 0
    /// What could not be looked at, or not be changed.
    public private(set) var left = 0
    /// The first of those.
    public private(set) var first: (path: TreePath, error: Errno)?

    private static let prefix = Array("user.versionsfs.".utf8)
    private let device: UInt64
    private let report: (_ count: Int) -> Void

    /// Walks the whole tree; it changes only the daemon's own attributes. It skips the state directory, other file
    /// systems, and a container within this one, which has marks of its own.
    ///
    /// - Parameter root: the container's directory. No process may have the state open.
    public init(below root: FileDescriptor, report: @escaping (_ count: Int) -> Void = { _ in }) {
        device = (try? Backing.stat(root.rawValue).key.device) ?? 0
        self.report = report
        look(into: root.rawValue, .root)
    }

    private mutating func look(into directory: Int32, _ path: TreePath) {
        do throws(Errno) {
            let entries = try Backing.list(directory)
            if path != .root, entries.contains(where: { $0.name.bytes == LiveContainer.stateName }),
                isNested(directory)
            {
                return
            }
            for entry in entries where path != .root || entry.name.bytes != LiveContainer.stateName {
                look(at: entry.name, in: directory, path.appending(entry.name))
            }
        } catch { note(path, error) }
    }

    private func isNested(_ directory: Int32) -> Bool {
        NestedState.lies(in: FileDescriptor(rawValue: directory), below: ".")
    }

    private mutating func look(at name: FileName, in directory: Int32, _ path: TreePath) {
        do throws(Errno) {
            guard let stat = try Backing.statIfPresent(name.bytes, in: directory), stat.key.device == device,
                stat.isRegular || stat.isDirectory
            else { return }
            count += 1
            report(count)
            try clear(Backing.descriptorPath(directory, name.bytes))
            guard stat.isDirectory else { return }
            let inner = SharedDescriptor(
                try CText.lend(name.bytes) { pointer throws(Errno) in
                    try Backing.check { linuxOpenDirectory(directory, pointer) }
                })
            look(into: inner.raw, path)
        } catch { note(path, error) }
    }

    private func clear(_ path: [UInt8]) throws(Errno) {
        try CText.lend(path) { path throws(Errno) in
            for name in try Self.names(path) where name.starts(with: Self.prefix) {
                try CText.lend(name) { name throws(Errno) in
                    _ = try Backing.check { linux_lremovexattr(path, name) }
                }
            }
        }
    }

    private static func names(_ path: UnsafePointer<CChar>) throws(Errno) -> [[UInt8]] {
        // Most have none; 64 KiB is the most that the kernel gives.
        for size in [1024, 65_536] {
            var list = [CChar](repeating: 0, count: size)
            let count = linux_llistxattr(path, &list, size)
            let error = Errno(rawValue: errno)
            if count >= 0 {
                return list.prefix(count).split(separator: 0).map { name in name.map { UInt8(bitPattern: $0) } }
            }
            if error == .notSupported { return [] }
            guard error == .outOfRange, size < 65_536 else { throw error }
        }
        return []
    }

    private mutating func note(_ path: TreePath, _ error: Errno) {
        left += 1
        if first == nil { first = (path, error) }
    }
}
