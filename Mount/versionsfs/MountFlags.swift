// The flags of the file system below, taken over when root mounts (DESIGN 3.3).

import Glibc
import SystemPackage

enum MountFlags {
    /// Options that make the mount as free as the one below it, and no freer; libfuse alone would forbid devices and
    /// set-id programs.
    static func inherited(from path: FilePath, asked: [String]) -> [String] {
        var below = statvfs()
        guard path.withPlatformString({ statvfs($0, &below) }) == 0 else { return [] }
        // ST_NOSUID and so on, which the C library shows to GNU programs only.
        let flags: [(UInt, restricting: String, freeing: String?)] = [
            (2, "nosuid", "suid"), (4, "nodev", "dev"), (8, "noexec", nil), (1024, "noatime", nil),
        ]
        return flags.compactMap { flag, restricting, freeing in
            if asked.contains(restricting) { return nil }
            return below.f_flag & flag != 0 ? restricting : freeing
        }
    }
}
