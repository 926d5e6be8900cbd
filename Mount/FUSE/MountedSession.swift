// A mounted file system, from the mount to its end.

import CFuse3
import CRing
import Glibc
import Synchronization
public import SystemPackage

/// A file system mounted on a directory.
///
/// The mount exists from `init` on; requests are answered while ``run()`` runs. Signals are the daemon's: its handler's
/// thread calls ``unmount(_:)``, then ``run()`` returns.
public final class MountedSession: Sendable {
    /// How a mount is to end.
    public enum Departure: Sendable {
        /// Only if nobody uses it; EBUSY otherwise.
        case whenUnused
        /// It leaves the tree at once and is served until its last user is done.
        case detached
        /// As detached; pending and later requests of its users fail, also of those that have the mount in a namespace
        /// of their own. Needs root, or fusectl where systems mount it; without both the same as detached.
        case aborted
    }

    /// The directory that is mounted on, absolute and without symbolic links.
    public let mountpoint: FilePath
    private let driver: Driver
    private let device: DeviceTransport
    /// If everything that it takes is there.
    private let ring: RingTransport?
    /// Cuts the kernel off, if it is within reach.
    private let connection: ConnectionSwitch?
    /// Held until the kernel has taken the answer to INIT.
    private let ringSwitch: Mutex<RingSwitch?>
    private enum Stage { case mounted, running, over }
    /// Guards the stage; nothing blocks under it.
    private let stage = Mutex(Stage.mounted)

    /// Mounts.
    ///
    /// - Parameters:
    ///   - fsname: the source that mount tables show.
    ///   - options: as for mount(8); see ``mayLetOthersIn`` for `allow_other` and `allow_root`.
    ///   - usesRing: whether requests may come over io_uring, where this machine has all that it takes.
    /// - Throws: `noSuchFileOrDirectory` and the like for the directory, `invalidArgument` for options that libfuse
    ///   does not know, `notPermitted` if the mount is refused; ``complaint`` then has what libfuse says of it.
    public init(
        fileSystem: any FileSystem, mountpoint: FilePath, fsname: FilePath, subtype: String = "versionsfs",
        options: [String] = [], usesRing: Bool = true
    ) throws(Errno) {
        self.mountpoint = try Self.resolve(mountpoint)
        let driver = Driver(fileSystem: fileSystem, deniesOthers: options.contains("allow_root"))
        // Released in `destroy`, after fuse_session_destroy.
        let context = Unmanaged.passRetained(driver)
        let argument = MountOptions.argument(fsname: fsname.string, subtype: subtype, options: options)
        Self.listen()
        defer { fuse_set_log_func(nil) }
        guard let session = Self.newSession(argument, source: fsname, context: context.toOpaque()) else {
            context.release()
            throw .invalidArgument
        }
        // The offer is made by mount(2).
        let ringSwitch = usesRing && geteuid() == 0 ? RingSwitch() : nil
        guard self.mountpoint.withPlatformString({ fuse_session_mount(session, $0) }) == 0 else {
            fuse_session_destroy(session)
            context.release()
            throw .notPermitted
        }
        let device = DeviceTransport(descriptor: fuse_session_fd(session)) { [unowned driver] in driver.serve($0) }
        let connection = ConnectionSwitch(self.mountpoint)
        let ring = ringSwitch == nil ? nil : Self.newRing(device, self.mountpoint, connection)
        driver.begin(session: session, transport: ring ?? device)
        self.driver = driver
        self.device = device
        self.ring = ring
        self.connection = connection
        self.ringSwitch = Mutex(ringSwitch)
        guard Self.answerThroughDriver(session, descriptor: fuse_session_fd(session)) else {
            destroy()
            throw .ioError
        }
    }

    /// Has libfuse send its answers through the driver, which is its context.
    static func answerThroughDriver(_ session: OpaquePointer, descriptor: Int32) -> Bool {
        var io = fuse_custom_io()
        io.writev = { _, vector, count, context in
            guard let vector, let context else {
                errno = EIO
                return -1
            }
            return Driver.of(context: context).send(vector, count: count)
        }
        io.read = { descriptor, buffer, count, _ in Glibc.read(descriptor, buffer, count) }
        return wire_session_custom_io(session, &io, descriptor) == 0
    }

    deinit {
        let unused = stage.withLock { $0 == .mounted }
        if unused { destroy() }
    }

    /// Serves requests until the mount is gone. Call it once.
    ///
    /// - Throws: why it ended, unless that was an unmount.
    public func run() throws(Errno) {
        let first = stage.withLock { stage in
            defer { if stage == .mounted { stage = .running } }
            return stage == .mounted
        }
        guard first else { throw .alreadyInProcess }
        let reason = serve()
        stage.withLock { $0 = .over }
        destroy()
        if reason != .operationNotSupportedByDevice && reason != .connectionAbort { throw reason }
    }

    private func serve() -> Errno {
        do {
            let lane = Lane()
            var features = Result<Features, Errno>.failure(.protocolError)
            try device.receive(lane)
            lane.whileCurrent {
                features = Result { () throws(Errno) in try driver.serveInit(lane) }
            }
            driver.start(try begin(try features.get()))
        } catch {
            return error
        }
        return (driver.transport ?? device).run()
    }

    /// Goes over to the ring if the kernel has agreed to it, and to the device alone otherwise.
    private func begin(_ negotiated: Features) throws(Errno) -> Features {
        ringSwitch.withLock { $0 = nil }
        guard let ring else { return negotiated }
        if negotiated.ring, (try? ring.begin()) != nil { return negotiated }
        ring.abandon()
        driver.use(device)
        driver.withdrawRing()
        var features = negotiated
        features.ring = false
        return features
    }

    private static func newRing(
        _ device: DeviceTransport, _ mountpoint: FilePath, _ connection: ConnectionSwitch?
    ) -> RingTransport? {
        guard let queues = ProcessorList.possible, ring_may_run_everywhere() != 0 else { return nil }
        // Threads that wait in the ring hear of an end that only the device has noticed when the mount is cut off.
        return try? RingTransport(device, queues: queues) {
            try? Unmounting.unmount(mountpoint, .aborted, connection)
        }
    }

    /// Takes the mount away; ``run()`` returns once the kernel has let go of it. Harmless when it is gone already.
    public func unmount(_ departure: Departure = .detached) throws(Errno) {
        guard stage.withLock({ $0 != .over }) else { return }
        try Unmounting.unmount(mountpoint, departure, connection)
    }

    /// Ends the session on our side. No thread of the transport is left by now.
    private func destroy() {
        guard let session = driver.session else { return }
        driver.end()
        // Has no threads any more, unless the session was never run.
        ring?.abandon()
        fuse_session_unmount(session)
        fuse_session_destroy(session)
        // Balances `passRetained` in init: libfuse has forgotten its context.
        Unmanaged.passUnretained(driver).release()
    }

    /// - Parameter source: `fsname` once more, where its bytes are no text: of two libfuse takes the last.
    static func newSession(
        _ options: String, source: FilePath? = nil, context: UnsafeMutableRawPointer
    ) -> OpaquePointer? {
        var arguments = fuse_args(argc: 0, argv: nil, allocated: 0)
        defer { fuse_opt_free_args(&arguments) }
        for argument in ["versionsfs", "-o", options] where fuse_opt_add_arg(&arguments, argument) != 0 {
            return nil
        }
        if let source, FilePath(source.string) != source {
            var argument = "-ofsname=".utf8.map { CChar(bitPattern: $0) }
            source.withPlatformString { pointer in
                for character in UnsafeBufferPointer(start: pointer, count: strlen(pointer)) {
                    // libfuse parts options at commas and knows a backslash before them.
                    if character == 0x2C || character == 0x5C { argument.append(0x5C) }
                    argument.append(character)
                }
            }
            guard fuse_opt_add_arg(&arguments, argument + [0]) == 0 else { return nil }
        }
        var table = operations()
        return wire_session_new(&arguments, &table, context)
    }

    /// Whether this user may use the options `allow_other` and `allow_root` (fuse.conf(5)); else with them it fails.
    public static var mayLetOthersIn: Bool { MountOptions.mayLetOthersIn }

    /// Guards what libfuse said while a session was made; nothing is called under it.
    private static let said = Mutex("")

    /// Why the last session could not be made, in libfuse's words; empty if it said nothing.
    public static var complaint: String {
        let text = said.withLock { $0 }.split(separator: "\n").joined(separator: "; ")
        return text.hasPrefix("fuse: ") ? String(text.dropFirst(6)) : text
    }

    /// Has libfuse's words kept for ``complaint``, which would go to standard error as a line of their own.
    private static func listen() {
        said.withLock { $0 = "" }
        fuse_set_log_func { _, format, arguments in
            guard let format, let arguments else { return }
            var buffer = [CChar](repeating: 0, count: 1024)
            vsnprintf(&buffer, buffer.count, format, arguments)
            let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // A line comes in pieces.
            MountedSession.said.withLock { $0 += text }
        }
    }

    private static func resolve(_ path: FilePath) throws(Errno) -> FilePath {
        guard let resolved = path.withPlatformString({ realpath($0, nil) }) else { throw Errno(rawValue: errno) }
        defer { free(resolved) }
        return FilePath(platformString: resolved)
    }
}
