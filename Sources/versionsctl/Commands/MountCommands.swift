// Mounting and unmounting.

import ArgumentParser
import CLinux
import ControlProtocol
import Glibc
import VersionsClient

struct MountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mount", abstract: "Mount a directory over itself, or at MOUNTPOINT.")
    @Argument(help: "The directory.") var directory: TypedPath
    @Argument(help: "Where to mount it instead.") var mountpoint: TypedPath?
    @Option(name: .short, help: ArgumentHelp("Options as mount(8) takes them.", valueName: "options"))
    var o: [String] = []

    func run() async throws {
        let source = try absolute(directory, creating: false)
        let point = try mountpoint.map { try absolute($0, creating: true) } ?? source
        try detachDeadMount(point)
        if let place = try? ContainerPlace.find(point), place.isMounted, place.root == point {
            throw ControlError(.busy, "already mounted", path: directory.path, advice: "versionsctl status shows it")
        }
        let beneath = BusyProcess.using(source)
        let arguments = [source] + (mountpoint == nil ? [] : [point]) + o.flatMap { [Path("-o"), Path(bytes: ArgumentBytes.bytes($0))] }
        let status = try Subprocess.run(Daemon.program(), arguments)
        // It has said itself why.
        if status == 1 { throw ExitCode(1) }
        guard status == 0 else {
            let advice = status == 127 ? "install versionsfs beside versionsctl or in PATH" : "see the line above, or syslog"
            throw ControlError(.failed, "versionsfs could not mount it (status \(status))", path: directory.path, advice: advice)
        }
        // The daemon detaches once the mount answers, so one call tells.
        let place = try ContainerPlace.find(point)
        _ = try await VersionsClient.connect(to: place, program: "versionsctl", version: toolVersion)
        if !beneath.isEmpty {
            Printer.note("\(BusyProcess.list(beneath)) began before the mount and go on beneath it: cd . again, or reopen")
        }
    }

    private func absolute(_ typed: TypedPath, creating: Bool) throws(ControlError) -> Path {
        guard let pointer = typed.path.withCString({ realpath($0, nil) }) else {
            // A dead mount cannot be followed; it is detached by its name.
            if errno == ENOTCONN { return absolutePath(typed.path) }
            let advice = errno == ENOENT ? "mkdir it first" : nil
            throw ControlError(system: "cannot be mounted", path: typed.path, advice: advice)
        }
        defer { free(pointer) }
        return Path(bytes: UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
    }

    private func detachDeadMount(_ point: Path) throws(ControlError) {
        // The kernel may still know the attributes of a dead mount's root; the file system's own it has to ask for.
        var status = statvfs()
        guard point.withCString({ statvfs($0, &status) }) != 0, errno == ENOTCONN else { return }
        try Unmounting.unmount(point, lazily: true)
        Printer.note("\(Style.printable(point)): a dead mount was detached")
    }
}

struct UnmountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "unmount", abstract: "Unmount a container.")
    @Flag(help: "Detach now, even if it is in use; what is open goes on until it is closed.") var lazy = false
    @Argument(help: "A path in the container.") var path: TypedPath

    func run() async throws {
        let place = try ContainerPlace.find(path.path)
        guard place.state != .unmounted else {
            throw ControlError(.notMounted, "not mounted", path: path.path)
        }
        let client = try? await VersionsClient.connect(to: place, program: "versionsctl", version: toolVersion)
        let mounts = MountTable.current()
        let device = mounts.last { $0.isOurs && $0.point == place.root }?.device
        let points = mounts.filter { $0.isOurs && $0.device == device }.map(\.point).reversed()
        guard !points.isEmpty else { throw ControlError(.notMounted, "not mounted", path: path.path) }
        for point in points { try Unmounting.unmount(point, lazily: lazy || place.state == .dead) }
        // The daemon lets go of its clients last: then the directory can be mounted again.
        if let client, !lazy { await Self.awaitEnd(of: client) }
    }
}

extension UnmountCommand {
    /// How long the daemon may take to write down what it has in hand.
    private static let patience = Duration.seconds(30)

    private static func awaitEnd(of client: VersionsClient) async {
        let ended = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                _ = try? await client.watch(.path(Path(""))) { _ in }
                return true
            }
            group.addTask {
                try? await Task.sleep(for: patience)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? true
        }
        if !ended { Printer.note("unmounted; the daemon is still at work: see its log before you mount again") }
    }
}

/// Unmounting as root or as a user.
enum Unmounting {
    /// - Throws: `busy`, naming the processes; `denied`.
    static func unmount(_ point: Path, lazily: Bool) throws(ControlError) {
        if geteuid() == 0 {
            let flags = CInt(8 | (lazily ? 2 : 0))  // UMOUNT_NOFOLLOW, MNT_DETACH
            if point.withCString({ umount2($0, flags) }) == 0 { return }
            guard errno == EBUSY else { throw ControlError(system: "cannot be unmounted", path: point) }
            throw busy(point)
        }
        let silence = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(silence) }
        let arguments = [Path("-u")] + (lazily ? [Path("-z")] : []) + [Path("--"), point]
        guard try Subprocess.run("fusermount3", arguments, standard: [2: silence]) == 0 else { throw busy(point) }
    }

    private static func busy(_ point: Path) -> ControlError {
        let users = BusyProcess.using(point)
        let who = users.isEmpty ? "by processes that only root can name" : "by \(BusyProcess.list(users))"
        return ControlError(
            .busy, "in use \(who)", path: point, advice: "close them or let them cd elsewhere, or use --lazy")
    }
}
