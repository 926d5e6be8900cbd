// One container cannot be made in another: it would be unclear which of the two keeps a file's versions, and which can
// be unmounted. A container from before is shown by the outer one like another file system, and only one of the two is
// mounted at a time. A container cannot be mounted over its own directory.

import CFuse3
import ControlProtocol
import Glibc
import SystemPackage
import VersionStore

enum Nesting {
    /// - Throws: if the directory lies in another container, or a mounted container lies in it, or the mount point lies
    ///   in the directory or above it, or is no directory.
    static func refuse(_ directory: FilePath, on mountpoint: FilePath) throws(StartError) {
        let path = directory.bytes
        let objection = MountPlace.objection(
            to: Path(bytes: mountpoint.bytes), for: Path(bytes: path), isSame: areOneDirectory)
        if let objection { throw StartError(mountpoint, objection.reason, hint: objection.advice) }
        var status = stat()
        if mountpoint.withPlatformString({ stat($0, &status) }) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw .notDirectory(mountpoint)
        }
        for mount in FileSystemsBelow.ours {
            for inner in [mount.point, mount.directory] where lies(inner, in: path) {
                throw StartError(
                    directory, "it contains the mounted container \(shown(inner))",
                    hint: "run `versionsctl unmount \(shown(mount.point))` first; `versionsctl forget` makes it a part "
                        + "of this one")
            }
            for outer in [mount.point, mount.directory] where lies(path, in: outer) {
                if let foreign = FileSystemsBelow.foreignPoint(of: path, in: outer) {
                    throw StartError(
                        directory, "it lies on another file system, mounted at \(shown(foreign)) in the container "
                            + "\(shown(outer)), and no container may lie in another",
                        hint: "mount it elsewhere: on another file system in a container it has no versions")
                }
                throw StartError(
                    directory, "it lies in the container \(shown(outer)), which is mounted",
                    hint: "its files have versions there; if it is a container of its own, unmount that one first")
            }
        }
        try refuseWithin(directory)
    }

    /// - Throws: if the directory lies in a container and is not a container yet, or only looks like one.
    static func refuseWithin(_ directory: FilePath) throws(StartError) {
        guard let outer = container(above: directory), !isContainer(directory) else { return }
        throw StartError(
            directory, "it lies in the container \(outer)",
            hint: "run `versionsctl mount \(outer)`, or `versionsctl forget \(outer)` if that is no container any more")
    }

    /// The note of `status` on a container that lies in another one.
    static func note(on directory: FilePath) -> String? {
        container(above: directory).map {
            "it lies in the container \($0), which shows it without versions; while it is mounted itself, its versions "
                + "are kept here"
        }
    }

    private static func container(above directory: FilePath) -> FilePath? {
        var above = directory
        while above.removeLastComponent(), above.bytes != [] {
            var status = stat()
            let state = above.appending(".versionsfs").appending("format")
            let isThere = state.withPlatformString { lstat($0, &status) } == 0
            if isThere, status.st_mode & S_IFMT == S_IFREG { return above }
            if above.bytes == [47] { return nil }
        }
        return nil
    }

    private static func isContainer(_ directory: FilePath) -> Bool {
        guard let opened = try? FileDescriptor.open(directory, .readOnly, options: [.directory, .closeOnExec]) else {
            return false
        }
        defer { try? opened.close() }
        return NestedState.lies(in: opened)
    }

    /// Compares file numbers: with shared mounts, a mount on a bind of a directory is on the directory as well.
    private static func areOneDirectory(_ one: Path, _ other: Path) -> Bool {
        if one == other { return true }
        guard let first = status(one), let second = status(other) else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    private static func status(_ path: Path) -> stat? {
        var status = stat()
        let text = path.bytes.map { CChar(bitPattern: $0) } + [0]
        return stat(text, &status) == 0 ? status : nil
    }

    private static func lies(_ path: [UInt8], in directory: [UInt8]) -> Bool {
        path != directory && path.starts(with: directory == [47] ? directory : directory + [47])
    }

    private static func shown(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }
}
