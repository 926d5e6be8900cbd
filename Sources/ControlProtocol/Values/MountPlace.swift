// Rules for mount points, which the tool and the daemon check before a mount.

/// A directory and its mount point.
public enum MountPlace {
    /// The reason against a mount point.
    public struct Objection: Hashable, Sendable {
        /// A clause about the mount point.
        public var reason: String
        /// A better choice.
        public var advice: String
    }

    /// Checks a mount point.
    ///
    /// - Parameters:
    ///   - mountpoint: absolute and without links, like the directory.
    ///   - isSame: whether two paths lead to one directory; binds give it several paths.
    /// - Returns: nil if the directory can be mounted there.
    public static func objection(
        to mountpoint: Path, for directory: Path, isSame: (Path, Path) -> Bool = { $0 == $1 }
    ) -> Objection? {
        if mountpoint.bytes == [47] {
            return Objection(
                reason: "the root directory cannot be a mount point", advice: "mount it on another directory")
        }
        if ancestors(of: directory).contains(where: { isSame($0, mountpoint) }) {
            return Objection(
                reason: "a mount there would cover \(directory)",
                advice: "mount it over itself, or elsewhere")
        }
        if ancestors(of: mountpoint).contains(where: { isSame($0, directory) }) {
            return Objection(reason: "the mount point lies in \(directory) itself",
                advice: "mount it over itself, or elsewhere")
        }
        return nil
    }

    /// The directories above an absolute path, the nearest first.
    private static func ancestors(of path: Path) -> [Path] {
        let names = path.bytes.split(separator: 47)
        return (0..<names.count).reversed().map { Path(bytes: [47] + names[..<$0].joined(separator: [47])) }
    }
}
