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
    @OptionGroup var json: JSONOption

    func run() async throws {
        if o.contains(where: { $0.split(separator: ",").contains("remount") }) { return try remount() }
        var detached: [Path] = []
        // Both: of a mount elsewhere the cover over the directory is left as well.
        let source = try clearedPlace(directory, &detached)
        let point = try mountpoint.map { try clearedPlace($0, &detached) } ?? source
        if !detached.isEmpty {
            let places = detached.map { Style.printable($0) }.joined(separator: ", ")
            Printer.note("The dead mount at \(places) was detached.")
        }
        // The daemon looks closer. This objection comes first, so that no later error hides it.
        if let objection = MountPlace.objection(to: point, for: source) {
            throw ControlError(
                .invalidValue, objection.reason, path: (mountpoint ?? directory).path, advice: objection.advice)
        }
        if let place = try? ContainerPlace.find(point), place.root == point, place.isMounted || place.isClosed {
            throw ControlError(
                .busy, "already mounted", path: (mountpoint ?? directory).path,
                advice: "`versionsctl status` shows the mount")
        }
        // The container's last daemon may be ending still. It sees to its end itself.
        let beneath = BusyProcess.using(source).filter { $0.program != "versionsfs" }
        let arguments =
            [source] + (mountpoint == nil ? [] : [point])
            + o.flatMap { [Path("-o"), Path(bytes: ArgumentBytes.bytes($0))] }
        let status = try Subprocess.run(Daemon.program(), arguments, environment: Self.messages)
        // It has said itself why.
        if status == 1 { throw ExitCode(1) }
        guard status == 0 else {
            let advice = status == 127
                ? "install versionsfs beside versionsctl or in PATH"
                : "`versionsctl logs \(Style.printable(source))` may say more"
            throw ControlError(
                .failed, "versionsfs ended with status \(status)", path: directory.path, advice: advice)
        }
        // The daemon detaches once the mount answers, so one call tells.
        let place = try ContainerPlace.find(point)
        _ = try await VersionsClient.connect(to: place, program: "versionsctl", version: toolVersion)
        if !beneath.isEmpty {
            let verb = beneath.count == 1 ? "sees" : "see"
            Printer.note(
                "\(BusyProcess.list(beneath)) still \(verb) the unmounted directory. Run `cd .` there, or reopen the "
                    + "files.")
        }
        guard json.json else {
            let elsewhere = point == source ? "" : " at \(Style.printable(point))"
            return try Printer.text("Mounted \(Style.printable(source))\(elsewhere).\n")
        }
        try Printer.json(MountReport(
            directory: source, mountpoint: point, detached: detached,
            beneath: beneath.map { .init(pid: $0.id, program: $0.program) }))
    }

    /// The daemon says itself what is wrong, in the form that was asked for.
    private static var messages: [(String, Path)] { Printer.isJSON ? [("VERSIONSFS_MESSAGES", Path("json"))] : [] }

    /// The daemon's program changes a mount, too, and says which options it cannot change.
    private func remount() throws {
        let arguments = [directory.path] + (mountpoint.map { [$0.path] } ?? [])
            + o.flatMap { [Path("-o"), Path(bytes: ArgumentBytes.bytes($0))] }
        let status = try Subprocess.run(Daemon.program(), arguments, environment: Self.messages)
        if status != 0 { throw ExitCode(status) }
    }

    /// What was typed as an absolute path without links, after what lies dead there was taken away.
    private func clearedPlace(_ typed: TypedPath, _ detached: inout [Path]) throws(ControlError) -> Path {
        let gone = try Unmounting.detachDead(at: try absolute(typed) ?? absolutePath(typed.path))
        detached += gone
        guard let path = try absolute(typed) else {
            throw ControlError(system: "cannot be mounted", path: typed.path)
        }
        // Only now: a dead mount does not tell what it is.
        guard Files.isDirectory(path) else {
            throw ControlError(
                .invalidValue, "is not a directory", path: typed.path,
                advice: "give a directory, such as the one that it lies in")
        }
        return path
    }

    /// - Returns: nil for a dead mount that cannot be followed: it is detached by its name.
    private func absolute(_ typed: TypedPath) throws(ControlError) -> Path? {
        guard let pointer = typed.path.withCString({ realpath($0, nil) }) else {
            if errno == ENOTCONN { return nil }
            let advice = errno == ENOENT ? "make it with `mkdir`" : nil
            throw ControlError(system: "cannot be mounted", path: typed.path, advice: advice)
        }
        defer { free(pointer) }
        return Path(bytes: UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
    }
}

struct UnmountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "unmount", abstract: "Unmount a container.")
    @Flag(help: "Detach now, even in use; open files stay usable until they are closed.") var lazy = false
    @Argument(help: "A path in the container.") var path: TypedPath
    @OptionGroup var json: JSONOption

    func run() async throws {
        let place = try found()
        let notMounted = ControlError(
            .notMounted, "not mounted", path: path.path, advice: "`versionsctl mount \(place.root)` mounts it")
        guard place.state != .unmounted else { throw notMounted }
        let client = try? await VersionsClient.connect(to: place, program: "versionsctl", version: toolVersion)
        let mounts = MountTable.current()
        let mount = mounts.last { $0.isOurs && $0.point == place.root }
        let device = mount?.device
        let points = mounts.filter { $0.isOurs && $0.device == device }.map(\.point).reversed()
        guard !points.isEmpty else { throw notMounted }
        // The daemon of a mount for its user alone is not asked, not even by root.
        let daemon = place.daemonProcess ?? mount.flatMap { BusyProcess.daemon(of: $0.source) }
        let end = DaemonEnd(of: daemon)
        for point in points { try Unmounting.unmount(point, lazily: lazy || place.state == .dead, daemon: daemon) }
        var ended = place.state == .dead
        if !ended, !lazy, !Self.staysElsewhere(device, daemon) {
            if let client {
                // The daemon lets go of its clients last: then the directory can be mounted again.
                ended = await Self.awaitEnd(of: client)
                // What it still does behind that is short, but on the files that the next daemon opens.
                if ended { end.wait(atMost: .seconds(10)) }
            } else {
                ended = end.wait(atMost: Self.patience)
            }
            if !ended, client != nil || daemon != nil {
                Printer.note("Unmounted. The daemon is still writing; look at its log before you mount again.")
            }
        }
        if json.json { try Printer.json(UnmountReport(mountpoints: Array(points), ended: ended)) }
    }
}

extension UnmountCommand {
    /// The container of the path. A name that is mistyped is none of its paths.
    private func found() throws(ControlError) -> ContainerPlace {
        let advice = "`versionsctl list` lists the containers"
        if !Files.exists(path.path), errno == ENOENT || errno == ENOTDIR {
            throw ControlError(.notFound, "no such file or directory", path: path.path, advice: advice)
        }
        do throws(ControlError) { return try ContainerPlace.find(path.path) } catch {
            guard error.code == .noContainer else { throw error }
            throw ControlError(.noContainer, "not in a container", path: path.path, advice: advice)
        }
    }

    /// How long the daemon may take to write down what it has in hand.
    private static let patience = Duration.seconds(30)

    /// Whether the mount goes on in another mount namespace, and its daemon with it: then that is said.
    private static func staysElsewhere(_ device: String?, _ daemon: Int32?) -> Bool {
        let holders = (device.map { BusyProcess.holding(device: $0) } ?? []).filter { $0.id != daemon }
        guard !holders.isEmpty else { return false }
        let cut = daemon.map { ", or run `kill \($0)`, which cuts them off after 10 s" } ?? ""
        Printer.note(
            "Unmounted here. The daemon still serves \(BusyProcess.list(holders)) in another mount namespace. End "
                + "them\(cut).")
        return true
    }

    private static func awaitEnd(of client: VersionsClient) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
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
    }
}
