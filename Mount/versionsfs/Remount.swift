// `mount -o remount`: changes the options of an existing mount, or explains the refusal.

import CLinux
import Glibc
import SystemPackage

/// One change of a mount's options.
struct Remount {
    let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() throws(StartError) {
        let point = try absolutePath(arguments.mountpoint ?? arguments.directory)
        guard FileSystemsBelow.isOurs(point.bytes) else {
            throw StartError(point, "not mounted", hint: "leave out remount; `versionsctl status \(point)` shows more")
        }
        guard let present = MountFlags.present(at: point) else {
            throw StartError(
                point, "\(Errno(rawValue: errno))", hint: "`versionsctl mount \(point)` mounts it again")
        }
        var table = arguments.table
        table.inherit(present)
        table.readOnly = table.readOnly ?? (present & 1 != 0)
        // ST_SYNCHRONOUS
        table.isSynchronous = table.isSynchronous ?? (present & 16 != 0)
        // The C library does not report these.
        let shown = FileSystemsBelow.options(of: point.bytes)
        table.isLazy = table.isLazy ?? shown.contains("lazytime")
        let isDirectorySynchronous = shown.contains("dirsync")
        table.isDirectorySynchronous = table.isDirectorySynchronous ?? isDirectorySynchronous
        try refuseWhatStays(table, point, present, isDirectorySynchronous)
        guard geteuid() == 0 else {
            throw StartError(
                point, "only root may change a mount", hint: "unmount it, and mount it with the new options")
        }
        try change(point, table.flags)
        guard !table.isReadOnly, isServedReadOnly(point) else { return }
        try change(point, table.flags | 1)
        throw StartError(
            point, "the daemon was started with -o ro and writes nothing",
            hint: "unmount it, and mount it without -o ro")
    }

    /// Refuses options that are fixed at the daemon's start.
    private func refuseWhatStays(
        _ table: MountTableOptions, _ point: FilePath, _ present: UInt, _ isDirectorySynchronous: Bool
    ) throws(StartError) {
        var now = MountTableOptions()
        now.inherit(present)
        let stays: String? =
            if table.accessTimes != now.accessTimes || table.sparesDirectories != now.sparesDirectories {
                "access times"
            } else if table.isSynchronous != (present & 16 != 0) {
                "sync"
            } else if table.isDirectorySynchronous != isDirectorySynchronous { "dirsync" } else { nil }
        guard let stays else { return }
        throw StartError(
            point, "\(stays) cannot be changed while it is mounted",
            hint: "unmount it, and mount it with the new options")
    }

    private func change(_ point: FilePath, _ flags: UInt) throws(StartError) {
        guard point.withPlatformString({ mount(nil, $0, nil, MountFlags.remount | flags, nil) }) != 0 else { return }
        let error = Errno(rawValue: errno)
        let advice =
            error == .resourceBusy
            ? "close the files that are open for writing; `fuser -m \(point)` lists them"
            : "the kernel's log (`dmesg`) may say more"
        throw StartError(point, "cannot be remounted: \(error)", hint: advice)
    }

    /// Sends a request that is always refused, and reads the reason: only a request for a change reveals the state.
    private func isServedReadOnly(_ point: FilePath) -> Bool {
        point.withPlatformString { linux_removexattr($0, 1, "user.versions.container") } != 0 && errno == EROFS
    }
}
