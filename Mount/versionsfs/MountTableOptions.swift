// The options that mount(8) lists for every file system, in its reading: of two contradictory options the later one
// counts.

import Glibc

/// The common mount options that the caller asks for.
struct MountTableOptions {
    /// The rule for a read to update the access time.
    enum AccessTimes { case never, relative, strict }

    /// Nil: as on the file system below.
    var accessTimes: AccessTimes?
    /// Whether reading a directory keeps its access time; nil: as below.
    var sparesDirectories: Bool?
    /// Nil: no.
    var readOnly: Bool?
    var isReadOnly: Bool { readOnly == true }
    /// Nil: as below.
    var forbidsSetID: Bool?
    var forbidsDevices: Bool?
    var forbidsPrograms: Bool?
    var forbidsSymlinks: Bool?
    var isLazy: Bool?
    /// Nil: no.
    var isSynchronous: Bool?
    var isDirectorySynchronous: Bool?
    /// Whether the options change an existing mount.
    var isRemount = false

    /// Numbers of mount(2); Glibc shows them as an enumeration that Swift does not read.
    private enum Flag {
        static let readOnly: UInt = 1
        static let noSetID: UInt = 2
        static let noDevices: UInt = 4
        static let noPrograms: UInt = 8
        static let synchronous: UInt = 16
        static let directorySynchronous: UInt = 128
        static let noSymlinks: UInt = 256
        static let noAccessTimes: UInt = 1024
        static let noDirectoryAccessTimes: UInt = 2048
        static let relativeTimes: UInt = 1 << 21
        static let strictTimes: UInt = 1 << 24
        static let lazyTimes: UInt = 1 << 25
    }

    /// Options that mount(8), fstab and systemd keep for themselves, or that current kernels ignore.
    private static let unused: Set<String> = [
        "defaults", "auto", "noauto", "nouser", "_netdev", "nofail", "mand", "nomand", "iversion", "noiversion",
        "silent", "loud",
    ]
    /// SELinux labels, which mount(8) omits where SELinux is not in use.
    private static let labels: Set<String> = ["context", "fscontext", "defcontext", "rootcontext"]
    private static let hasLabels = access("/sys/fs/selinux/enforce", F_OK) == 0

    /// - Returns: whether the option is a common one; other options belong to libfuse or the daemon.
    mutating func take(_ option: String) -> Bool {
        let key = String(option.prefix { $0 != "=" })
        if Self.unused.contains(key) || key.hasPrefix("x-") || key.hasPrefix("X-") || key.hasPrefix("comment") {
            return true
        }
        if Self.labels.contains(key) { return !Self.hasLabels }
        return takeFlag(option) || takeTime(option)
    }

    private mutating func takeFlag(_ option: String) -> Bool {
        switch option {
        case "ro", "rw": readOnly = option == "ro"
        case "suid", "nosuid": forbidsSetID = option == "nosuid"
        case "dev", "nodev": forbidsDevices = option == "nodev"
        case "exec", "noexec": forbidsPrograms = option == "noexec"
        case "symfollow", "nosymfollow": forbidsSymlinks = option == "nosymfollow"
        // As in mount(8): a user's mount gives no rights.
        case "user", "users": (forbidsSetID, forbidsDevices, forbidsPrograms) = (true, true, true)
        case "owner", "group": (forbidsSetID, forbidsDevices) = (true, true)
        case "sync", "async": isSynchronous = option == "sync"
        case "dirsync", "nodirsync": isDirectorySynchronous = option == "dirsync"
        case "remount": isRemount = true
        default: return false
        }
        return true
    }

    private mutating func takeTime(_ option: String) -> Bool {
        switch option {
        case "noatime": accessTimes = .never
        // Without one of the other options the kernel takes relatime, for these as well.
        case "atime", "relatime", "norelatime", "nostrictatime": accessTimes = .relative
        case "strictatime": accessTimes = .strict
        case "diratime", "nodiratime": sparesDirectories = option == "nodiratime"
        case "lazytime", "nolazytime": isLazy = option == "lazytime"
        default: return false
        }
        return true
    }

    /// Takes options that the caller did not give from the flags of the file system below, as in statvfs(3).
    mutating func inherit(_ below: UInt) {
        forbidsSetID = forbidsSetID ?? (below & Flag.noSetID != 0)
        forbidsDevices = forbidsDevices ?? (below & Flag.noDevices != 0)
        forbidsPrograms = forbidsPrograms ?? (below & Flag.noPrograms != 0)
        sparesDirectories = sparesDirectories ?? (below & Flag.noDirectoryAccessTimes != 0)
        // ST_RELATIME, ST_NOSYMFOLLOW: other numbers than mount(2) has.
        forbidsSymlinks = forbidsSymlinks ?? (below & 8192 != 0)
        let isRelative = below & 4096 != 0
        accessTimes = accessTimes ?? (below & Flag.noAccessTimes != 0 ? .never : isRelative ? .relative : .strict)
    }

    /// The options for libfuse: it knows these, and by itself forbids devices and set-id programs.
    var forLibrary: [String] {
        let choices: [(Bool?, String, String?)] = [
            (forbidsSetID, "nosuid", "suid"), (forbidsDevices, "nodev", "dev"), (forbidsPrograms, "noexec", nil),
            (isReadOnly, "ro", nil), (isSynchronous, "sync", nil), (isDirectorySynchronous, "dirsync", nil),
            (accessTimes.map { $0 == .never }, "noatime", nil),
        ]
        // A user's mount has no devices and no set-id programs in any case.
        let isRoot = geteuid() == 0
        return choices.compactMap { isSet, on, off in isSet.flatMap { $0 ? on : isRoot ? off : nil } }
    }

    /// The same as flags of mount(2).
    var flags: UInt {
        var result: UInt = 0
        let choices: [(Bool, UInt)] = [
            (isReadOnly, Flag.readOnly), (forbidsSetID == true, Flag.noSetID), (forbidsDevices == true, Flag.noDevices),
            (forbidsPrograms == true, Flag.noPrograms), (forbidsSymlinks == true, Flag.noSymlinks),
            (isSynchronous == true, Flag.synchronous), (isDirectorySynchronous == true, Flag.directorySynchronous),
            (isLazy == true, Flag.lazyTimes), (sparesDirectories == true, Flag.noDirectoryAccessTimes),
            (accessTimes == .never, Flag.noAccessTimes), (accessTimes == .strict, Flag.strictTimes),
            (accessTimes == .relative, Flag.relativeTimes),
        ]
        for (isSet, flag) in choices where isSet { result |= flag }
        return result
    }
}
