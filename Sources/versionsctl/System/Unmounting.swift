// Taking mounts away, as root or as a user, and saying who keeps one.

import ControlProtocol
import Glibc
import VersionsClient

/// Unmounting as root or as a user.
enum Unmounting {
    /// - Parameter daemon: the container's own process, which is never in the way.
    /// - Throws: `busy`, naming the processes; `denied`.
    static func unmount(_ point: Path, lazily: Bool, daemon: Int32? = nil) throws(ControlError) {
        if geteuid() == 0 {
            let flags = CInt(8 | (lazily ? 2 : 0))  // UMOUNT_NOFOLLOW, MNT_DETACH
            if point.withCString({ umount2($0, flags) }) == 0 { return }
            guard errno == EBUSY else { throw ControlError(system: "cannot be unmounted", path: point) }
            throw busy(point, daemon)
        }
        if let owner = MountTable.current().last(where: { $0.point == point })?.owner, owner != geteuid() {
            throw ControlError(
                .denied, "mounted by \(userName(owner))", path: point,
                advice: "ask them, or run `sudo versionsctl unmount`")
        }
        let silence = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(silence) }
        let arguments = [Path("-u")] + (lazily ? [Path("-z")] : []) + [Path("--"), point]
        let status = try Subprocess.run("fusermount3", arguments, standard: [2: silence])
        guard status != 127 else {
            throw ControlError(.failed, "cannot be unmounted without fusermount3", path: point, advice: "install fuse3")
        }
        guard status == 0 else { throw busy(point, daemon) }
    }

    /// Detaches the dead mounts at a path, and those of the same container elsewhere.
    /// - Returns: where they were.
    static func detachDead(at path: Path) throws(ControlError) -> [Path] {
        var detached: [Path] = []
        // As many as could lie over one another. A mount that stays dead all the same is named when it is opened.
        for _ in 0..<16 where isDead(path) {
            let mounts = MountTable.current()
            guard let dead = mounts.last(where: { $0.point == path }) else {
                let above = mounts.last { $0.isOurs && $0.contains(path) }?.point
                throw ControlError(
                    .notMounted, "lies in a mount whose daemon is gone", path: path,
                    advice: "run `versionsctl mount \((above ?? path).description)` first")
            }
            let points = dead.isOurs ? mounts.filter { $0.isOurs && $0.device == dead.device }.map(\.point) : [path]
            for point in points.reversed() {
                try unmount(point, lazily: true)
                detached.append(point)
            }
        }
        return detached
    }

    private static func isDead(_ path: Path) -> Bool {
        // The kernel may still know the attributes of a dead mount's root; the file system's own it has to ask for.
        var status = statvfs()
        return path.withCString { statvfs($0, &status) } != 0 && errno == ENOTCONN
    }

    private static func busy(_ point: Path, _ daemon: Int32?) -> ControlError {
        let users = BusyProcess.using(point).filter { $0.id != daemon }
        let inside = MountTable.current().first { $0.point != point && $0.isAt(orBelow: point) }
        if users.isEmpty, let inside {
            return ControlError(
                .busy, "in use by the mount at \(Style.printable(inside.point))", path: point,
                advice: "unmount that first, or use --lazy")
        }
        let unnamed = geteuid() == 0 ? "by the kernel" : "by processes of other users"
        let who = users.isEmpty ? unnamed : "by \(BusyProcess.list(users))"
        return ControlError(
            .busy, "in use \(who)", path: point,
            advice: "end them, or let them leave the directory; --lazy detaches the mount now")
    }

    private static func userName(_ id: UInt32) -> String {
        getpwuid(id).map { Style.printable(String(cString: $0.pointee.pw_name)) } ?? "user \(id)"
    }
}
