// One container cannot lie in another: which of the two would keep a file's versions, and which could be unmounted? And
// none can be mounted where it would cover its own directory.

import CFuse3
import ControlProtocol
import Glibc
import SystemPackage

enum Nesting {
    /// - Throws: if the directory lies in another container, or a mounted one lies in it, or the mount point in itself,
    ///   or if the mount point is above it.
    static func refuse(_ directory: FilePath, on mountpoint: FilePath) throws(StartError) {
        let path = directory.bytes
        let objection = MountPlace.objection(
            to: Path(bytes: mountpoint.bytes), for: Path(bytes: path), isSame: areOneDirectory)
        if let objection { throw StartError(text: "\(mountpoint): \(objection.reason): \(objection.advice)") }
        for mount in FileSystemsBelow.ours {
            for inner in [mount.point, mount.directory] where lies(inner, in: path) {
                throw StartError(
                    text: "\(directory): \(shown(inner)) in it is a container of its own, and mounted: "
                        + "versionsctl unmount \(shown(mount.point)) first, "
                        + "and versionsctl forget it if it is to be part of this one")
            }
            for outer in [mount.point, mount.directory] where lies(path, in: outer) {
                if let foreign = FileSystemsBelow.foreignPoint(of: path, in: outer) {
                    throw StartError(
                        text: "\(directory): on another file system, mounted at \(shown(foreign)) "
                            + "in the container \(shown(outer)): no versions are kept there, "
                            + "and no container may lie in another: mount that file system elsewhere")
                }
                throw StartError(
                    text: "\(directory): it lies in the container \(shown(outer)), which is mounted: "
                        + "its files have versions there")
            }
        }
        var above = directory
        while above.removeLastComponent(), above.bytes != [] {
            var status = stat()
            let state = above.appending(".versionsfs").appending("format")
            let isThere = state.withPlatformString { lstat($0, &status) } == 0
            if isThere, status.st_mode & S_IFMT == S_IFREG {
                throw StartError(
                    text: "\(directory): it lies in the container \(above): versionsctl mount that, "
                        + "or versionsctl forget it if it is none any more")
            }
            if above.bytes == [47] { return }
        }
    }

    /// By their numbers: what is mounted on a bind of a directory is, where mounts are shared, on it as well.
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
