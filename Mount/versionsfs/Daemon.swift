// The daemon's life: opens the container, mounts it, serves the kernel and the control socket, and ends.

import CFuse3
import Container
import ControlProtocol
import ControlService
import FUSE
import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// The reason why the daemon cannot continue.
struct StartError: Error {
    var diagnostic: Diagnostic

    init(_ diagnostic: Diagnostic) { self.diagnostic = diagnostic }

    /// - Parameters:
    ///   - subject: the path or option of the error.
    ///   - text: the error, as a clause.
    ///   - hint: the next command.
    init(_ subject: some CustomStringConvertible, _ text: String, hint: String?) {
        diagnostic = Diagnostic("\(subject)", text, hint: hint)
    }

    static func notDirectory(_ path: FilePath) -> StartError {
        StartError(path, "is not a directory", hint: "give a directory, such as the one that it lies in")
    }
}

/// One container, served until it is unmounted or a signal ends it.
struct Daemon {
    let arguments: Arguments
    private let place: FilePath
    private let point: FilePath
    private let log: DaemonLog
    private var logger: Logger { log.logger }

    init(_ arguments: Arguments) throws(StartError) {
        self.arguments = arguments
        // Removes the dead mount of a crashed daemon. A service manager that restarts the daemon does not remove it.
        for place in [arguments.directory, arguments.mountpoint].compactMap({ $0 }) { DeadMount.detach(at: place) }
        let place = try absolutePath(arguments.directory)
        self.place = place
        point = try arguments.mountpoint.map { bytes throws(StartError) in try absolutePath(bytes) } ?? place
        try Nesting.refuse(place, on: point)
        log = DaemonLog(arguments, place, on: point)
    }

    func run() throws(StartError) {
        try checkOthers()
        // The working directory may be in another container, and would keep it from being unmounted.
        chdir("/")
        let opened = try OpenedContainer(place, arguments, logger, isReadOnly: arguments.table.isReadOnly)
        let (path, container) = (opened.path, opened.container)
        let fileSystem = ContainerFileSystem(
            container, listsVersions: arguments.has("list-versions"), diligence: .init(arguments.table))
        let socket = try socketPlace(container, besides: point)
        var table = arguments.table
        if geteuid() == 0, let below = MountFlags.present(at: path) { table.inherit(below) }
        let session = try mount(fileSystem, path, on: point, table)
        let cover = point == path || arguments.has("source-open") ? nil : SourceCover(path, point, logger)
        let ending = Ending(session, cover, logger)
        let signals = SignalThread { ending.begin() }
        signals.start()
        let server: ControlServer
        do {
            server = try serveControl(at: socket, container, path, point, fileSystem)
        } catch {
            try? session.unmount(.aborted)
            throw error
        }
        container.start()
        DetachWatch.start(point.bytes) { container.state.noteDetached() }
        KnownMount.note(path, on: point)
        logger.notice("mounted", metadata: ["container": "\(path)", "mountpoint": "\(point)"])
        // Requests before `run()` wait in the kernel. The cover makes a request, and so waits for `run()`.
        let descriptor = arguments.readyDescriptor
        ThreadStart { [table, logger] in
            MountFlags.complete(point, table, logger)
            cover?.lay()
            if let descriptor { Detaching.ready(descriptor) }
        }.run()
        do {
            try session.run()
        } catch {
            logger.error("the mount ended: \(error)")
        }
        container.state.noteEnding()
        cover?.lift()
        container.close()
        container.state.close()
        // Last: `versionsctl unmount` waits for the end of its connection, and expects the container to be free then.
        server.stop()
        logger.notice("unmounted", metadata: ["container": "\(path)"])
    }

    /// fusermount3 would refuse it too, but late and with a message of its own.
    private func checkOthers() throws(StartError) {
        let option = arguments.options.first { $0 == "allow_other" || $0 == "allow_root" }
        if arguments.table.forbidsSymlinks == true, geteuid() != 0 {
            throw StartError("nosymfollow", "an option for root alone", hint: "leave it out")
        }
        guard let option, !MountedSession.mayLetOthersIn else { return }
        throw StartError(
            option, "an option for root alone, for /etc/fuse.conf has no line user_allow_other",
            hint: "have root add that line, or leave the option out")
    }

    private func mount(
        _ fileSystem: ContainerFileSystem, _ path: FilePath, on mountpoint: FilePath, _ table: MountTableOptions
    ) throws(StartError) -> MountedSession {
        var options = table.forLibrary + arguments.kernelOptions + ["default_permissions"]
        if geteuid() == 0 {
            if !options.contains("allow_root") { options.append("allow_other") }
        }
        do {
            return try MountedSession(
                fileSystem: fileSystem, mountpoint: mountpoint, fsname: path, options: options,
                usesRing: !arguments.has("no-ring"))
        } catch {
            let (reason, hint) = Self.reason(error)
            throw StartError(mountpoint, "cannot be mounted: \(reason)", hint: hint)
        }
    }

    private static func reason(_ error: Errno) -> (reason: String, hint: String) {
        let said = MountedSession.complaint
        if error == .invalidArgument, said.contains("unknown option") {
            return (said, "leave it out; `versionsfs -h` and mount(8) list the options")
        }
        let hint = geteuid() == 0
            ? "the kernel's log (`dmesg`) may say more" : "mount a directory of your own, and install fuse3"
        return (said.isEmpty ? "\(error)" : said, hint)
    }

    /// The place for the control socket. The mount must not cover it, because nothing serves the mount yet.
    private func socketPlace(
        _ container: any ServedContainer, besides mountpoint: FilePath
    ) throws(StartError) -> SocketPlace {
        let place = SocketPlace(
            container: container.state.identity.container, user: geteuid(),
            runtimeDirectory: getenv("XDG_RUNTIME_DIR").map { String(cString: $0) })
        guard FilePath(place.directory).starts(with: mountpoint) else { return place }
        throw StartError(
            mountpoint, "the mount would cover the control socket in \(place.directory)", hint: "mount it elsewhere")
    }

    private func serveControl(
        at place: SocketPlace, _ container: any ServedContainer, _ path: FilePath, _ mountpoint: FilePath,
        _ fileSystem: ContainerFileSystem
    ) throws(StartError) -> ControlServer {
        let probe = FileSystemProbe(container.state, isReadOnly: arguments.table.isReadOnly)
        let backend = ContainerBackend(
            container,
            .init(
                mountpoint: Path(bytes: mountpoint.bytes), version: ProductVersion.current,
                log: log.place,
                transport: { fileSystem.transport },
                notes: { fileSystem.notes + [Nesting.note(on: path)].compactMap { $0 } },
                fileSystems: {
                    FileSystemsBelow.list(
                        path, probe, canReflink: container.state.contents.canReflink,
                        passesThrough: fileSystem.transport.passthrough)
                }, state: Path(bytes: path.bytes + Array("/.versionsfs".utf8))))
        do {
            let server = try ControlServer(at: place, backend: backend, logger: logger)
            container.socketPath = place.path
            return server
        } catch {
            let subject = error.path.map(\.description) ?? "\(path)"
            throw StartError(subject, error.message, hint: error.advice ?? "see df and dmesg")
        }
    }
}

/// Ends the mount on request: normally at first, and by force if that takes too long.
private final class Ending: Sendable {
    /// The time that programs have to close their files.
    private static let patience = Duration.seconds(10)
    private let session: MountedSession
    private let cover: SourceCover?
    private let logger: Logger

    init(_ session: MountedSession, _ cover: SourceCover?, _ logger: Logger) {
        self.session = session
        self.cover = cover
        self.logger = logger
    }

    func begin() {
        cover?.lift()
        do {
            try session.unmount(.detached)
        } catch where error != .invalidArgument {
            logger.error("cannot unmount: \(error)")
        } catch {
            // The mount has been unmounted by its path already.
        }
        ThreadStart { [self] in
            // The process may end earlier. The signals that end the daemon are blocked here, so no signal shortens the
            // sleep.
            var time = timespec(tv_sec: Int(Self.patience.components.seconds), tv_nsec: 0)
            nanosleep(&time, nil)
            logger.warning("the mount is still in use: its users are cut off")
            do {
                try session.unmount(.aborted)
            } catch {
                // The daemon must always be able to end. Acknowledged data survives a kill, too.
                logger.error("they cannot be cut off (\(error)): it ends as if it were killed")
                _exit(1)
            }
        }.run()
    }
}

extension FilePath {
    /// The path's bytes.
    var bytes: [UInt8] {
        withPlatformString { pointer in
            UnsafeBufferPointer(start: pointer, count: strlen(pointer)).map { UInt8(bitPattern: $0) }
        }
    }
}
