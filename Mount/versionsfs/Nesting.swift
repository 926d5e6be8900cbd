// One container cannot lie in another: which of the two would keep a file's versions, and which could be unmounted?

import CFuse3
import Glibc
import SystemPackage

enum Nesting {
    /// - Throws: if the directory lies in another container, or a mounted one lies in it, or the mount point in itself.
    static func refuse(_ directory: FilePath, on mountpoint: FilePath) throws(StartError) {
        let (path, point) = (directory.bytes, mountpoint.bytes)
        if lies(point, in: path) {
            throw StartError(text: "\(mountpoint): it lies in \(directory) itself: mount it over itself, or elsewhere")
        }
        for mount in FileSystemsBelow.ours {
            for inner in [mount.point, mount.directory] where lies(inner, in: path) {
                throw StartError(
                    text: "\(directory): \(shown(inner)) in it is a container of its own, and mounted: "
                        + "versionsctl unmount \(shown(mount.point)) first, "
                        + "and versionsctl forget it if it is to be part of this one")
            }
            for outer in [mount.point, mount.directory] where lies(path, in: outer) {
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

    private static func lies(_ path: [UInt8], in directory: [UInt8]) -> Bool {
        path != directory && path.starts(with: directory == [47] ? directory : directory + [47])
    }

    private static func shown(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }
}
