// A mounted file system, from the mount to its end.

import CFuse3
import CRing
import Glibc
import Synchronization
public import SystemPackage

/// A file system mounted on a directory.
///
/// The mount exists from `init` on; ``run()`` serves requests. The daemon handles signals: its signal thread calls
/// ``unmount(_:)``, then ``run()`` returns.
public final class MountedSession: Sendable {
    /// How a mount is to end.
    public enum Departure: Sendable {
        /// Only if no program uses it; EBUSY otherwise.
        case whenUnused
        /// It leaves the directory tree at once. The daemon serves it until its last user closes it.
        case detached
        /// As detached, and pending and later requests fail, including requests from other mount namespaces. Needs
        /// root, or fusectl at its usual mount point; without both the same as detached.
        case aborted
    }

    /// The directory of the mount, absolute and without symbolic links.
    public let mountpoint: FilePath
    private let driver: Driver
    private let device: DeviceTransport
    /// Nil if a requirement of the ring is missing.
    private let ring: RingTransport?
    /// Aborts the connection, if the switch is within reach.
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
    ///   - usesRing: whether requests may come over io_uring, if this machine supports it.
    /// - Throws: `noSuchFileOrDirectory` and the like for the directory, `invalidArgument` for options that libfuse
    ///   does not know, `notPermitted` if the mount is refused. ``complaint`` then has libfuse's message.
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
        // mount(2) offers the ring, so the switch must be on before.
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
    /// - Throws: the reason of the end, unless that was an unmount.
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

    /// Starts the ring if the kernel has agreed to it, and the device alone otherwise.
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
        // A connection can end so that only the device notices. The cut wakes the threads that wait in the ring.
        return try? RingTransport(device, queues: queues) {
            try? Unmounting.unmount(mountpoint, .aborted, connection)
        }
    }

    /// Unmounts; ``run()`` returns once the kernel has released the mount. No effect if the mount is gone already.
    public func unmount(_ departure: Departure = .detached) throws(Errno) {
        guard stage.withLock({ $0 != .over }) else { return }
        try Unmounting.unmount(mountpoint, departure, connection)
    }

    /// Ends the session in this process. The transport has no threads by now.
    private func destroy() {
        guard let session = driver.session else { return }
        driver.end()
        // The ring has threads only if the session was never run.
        ring?.abandon()
        fuse_session_unmount(session)
        fuse_session_destroy(session)
        // Balances `passRetained` in init: libfuse has forgotten its context.
        Unmanaged.passUnretained(driver).release()
    }

    /// - Parameter source: `fsname` once more, for a name that is not valid text: libfuse uses the last of two.
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

    /// Whether this user may use the options `allow_other` and `allow_root` (fuse.conf(5)); otherwise a mount with them
    /// fails.
    public static var mayLetOthersIn: Bool { MountOptions.mayLetOthersIn }

    /// Guards what libfuse said while a session was made; nothing is called under it.
    private static let said = Mutex("")

    /// libfuse's message about the last session that could not be made; empty without a message.
    public static var complaint: String {
        let text = said.withLock { $0 }.split(separator: "\n").joined(separator: "; ")
        return text.hasPrefix("fuse: ") ? String(text.dropFirst(6)) : text
    }

    /// Keeps libfuse's messages for ``complaint``. They would otherwise go to standard error as separate lines.
    private static func listen() {
        said.withLock { $0 = "" }
        fuse_set_log_func { _, format, arguments in
            guard let format, let arguments else { return }
            var buffer = [CChar](repeating: 0, count: 1024)
            vsnprintf(&buffer, buffer.count, format, arguments)
            let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // libfuse writes a line in pieces.
            MountedSession.said.withLock { $0 += text }
        }
    }

    private static func resolve(_ path: FilePath) throws(Errno) -> FilePath {
        guard let resolved = path.withPlatformString({ realpath($0, nil) }) else { throw Errno(rawValue: errno) }
        defer { free(resolved) }
        return FilePath(platformString: resolved)
    }
}
