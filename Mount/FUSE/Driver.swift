// The session for the rest of the module. It takes messages from a transport, serves them or passes them to libfuse,
// and gives the file system its way back to the kernel.

import CFuse3
import Glibc
import SystemPackage

/// The context of libfuse's callbacks: the file system and the state of its session.
///
/// Sendable by hand: `fileSystem`, `session`, `transport` and `negotiation` are written before the first reader thread
/// starts and after the last one has been joined; between, other threads reach them only through `gate`.
final class Driver: @unchecked Sendable {
    /// Nil after the end of the session: the file system may keep its session for longer.
    private(set) var fileSystem: (any FileSystem)?
    let gate = Gate()
    let parked = ParkedOpens()
    private(set) var session: OpaquePointer?
    private(set) var transport: (any Transport)?
    private var negotiation: Negotiation?
    private(set) var features: Features?
    /// `-o allow_root`: only the owner of the mount and root may use it.
    let deniesOthers: Bool
    let owner = geteuid()

    init(fileSystem: any FileSystem, deniesOthers: Bool = false) {
        self.fileSystem = fileSystem
        self.deniesOthers = deniesOthers
    }

    func begin(session: OpaquePointer, transport: any Transport) {
        self.session = session
        self.transport = transport
    }

    /// Replaces the transport, before any of its threads runs.
    func use(_ transport: any Transport) {
        self.transport = transport
    }

    /// Prepares the end of the session: no other thread uses it from here on.
    func end() {
        parked.cancel()
        gate.close()
        fileSystem = nil
        session = nil
        transport = nil
    }

    /// Whether requests come over a ring.
    var ring: Bool { features?.ring == true }

    /// Notes that the agreed ring does not work here.
    func withdrawRing() {
        features?.ring = false
    }

    /// Notes that the agreed passthrough does not work here.
    func withdrawPassthrough() {
        features?.passthrough = false
    }

    /// The driver of a request.
    static func of(_ request: OpaquePointer) -> Driver? {
        fuse_req_userdata(request).map { of(context: $0) }
    }

    /// The driver that was given to libfuse as its context; retained by ``MountedSession`` until the session is
    /// destroyed.
    static func of(context: UnsafeMutableRawPointer) -> Driver {
        Unmanaged<Driver>.fromOpaque(context).takeUnretainedValue()
    }

    /// Serves the message of a lane, which is the calling thread's.
    func serve(_ lane: Lane) {
        guard let session, let header = lane.message.value(wire_header_in.self) else { return }
        guard RequestShape.isWhole(lane.message, header) else {
            if RequestShape.wantsAnswer(header.opcode) { send(error: .invalidArgument, to: header.unique) }
            return
        }
        if header.opcode == Opcode.interrupt {
            // Not for libfuse: it would ask for an INTERRUPT again if the request has not come yet, and the ring cannot
            // do that.
            if let request = lane.body(UInt64.self) { parked.interrupt(request: request) }
            return
        }
        if mayUse(header) {
            if header.opcode == Opcode.temporary {
                serveTemporary(header, lane)
                return
            }
            if header.opcode == Opcode.extendedStat {
                serveExtendedStat(header, lane)
                return
            }
            if negotiation == nil, serveDirectly(header, lane) { return }
        }
        var buffer = fuse_buf()
        buffer.mem = UnsafeMutableRawPointer(mutating: lane.message.baseAddress)
        buffer.size = lane.message.count
        fuse_session_process_buf(session, &buffer)
    }

    /// The check of `-o allow_root` that libfuse makes, for requests that libfuse does not see.
    private func mayUse(_ header: wire_header_in) -> Bool {
        !deniesOthers || header.user == 0 || header.user == owner
    }

    /// Serves the first message, INIT, and completes its answer.
    func serveInit(_ lane: Lane) throws(Errno) -> Features {
        negotiation = Negotiation(lane.message, privileged: geteuid() == 0, hasRing: transport is RingTransport)
        serve(lane)
        negotiation = nil
        guard let features else { throw .protocolError }
        return features
    }

    /// Sends an answer of libfuse: the hook of ``fuse_session_custom_io``.
    func send(_ vector: UnsafePointer<iovec>, count: Int32) -> Int {
        guard let transport else {
            errno = ENODEV
            return -1
        }
        if let negotiation, count == 2, let head = vector[0].iov_base, vector[0].iov_len == 16,
            let body = vector[1].iov_base,
            negotiation.recognizes(head.loadUnaligned(as: wire_header_out.self), bodyLength: vector[1].iov_len)
        {
            var reply = body.loadUnaligned(as: wire_init_out.self)
            features = negotiation.complete(&reply)
            // Patched in place, because a newer library's answer may be longer than this structure.
            body.storeBytes(of: reply, as: wire_init_out.self)
        }
        return transport.send(vector, count: count)
    }

    /// O_TMPFILE, which libfuse 3.14 does not know.
    private func serveTemporary(_ header: wire_header_in, _ lane: Lane) {
        guard let fileSystem, let body = lane.body(wire_create_in.self) else {
            send(error: .invalidArgument, to: header.unique)
            return
        }
        let caller = Caller(
            user: header.user, group: header.group, thread: pid_t(bitPattern: header.thread), umask: body.umask,
            dropsSetID: body.open_flags & KillFlag.open != 0)
        do {
            let created = try fileSystem.createTemporary(
                caller, parent: header.node, mode: body.mode, flags: Int32(bitPattern: body.flags))
            var reply = wire_create_out(entry: wire_entry_out(created.entry), opened: wire_open_out(created.opened))
            let sent = withUnsafeMutableBytes(of: &reply) { send(UnsafeRawBufferPointer($0), to: header.unique) }
            if !sent { fileSystem.takeBack(created) }
        } catch {
            send(error: error, to: header.unique)
        }
    }

    /// STATX, which the kernel sends when a program asks for the birth time.
    private func serveExtendedStat(_ header: wire_header_in, _ lane: Lane) {
        guard let fileSystem, let body = lane.body(wire_statx_in.self) else {
            send(error: .invalidArgument, to: header.unique)
            return
        }
        let caller = Caller(user: header.user, group: header.group, thread: pid_t(bitPattern: header.thread))
        do {
            // FUSE_GETATTR_FH
            let handle = body.flags & 1 != 0 ? body.handle : nil
            var reply = wire_statx_out(try fileSystem.attributes(caller, node: header.node, handle: handle))
            _ = withUnsafeMutableBytes(of: &reply) { send(UnsafeRawBufferPointer($0), to: header.unique) }
        } catch {
            send(error: error, to: header.unique)
        }
    }

    func send(error: Errno, to unique: UInt64) {
        var header = wire_header_out(length: 16, error: -error.answer, unique: unique)
        withUnsafeMutableBytes(of: &header) { bytes in
            var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            _ = send(&vector, count: 1)
        }
    }

    func send(_ body: UnsafeRawBufferPointer, to unique: UInt64) -> Bool {
        let length = MemoryLayout<wire_header_out>.size + body.count
        var header = wire_header_out(length: UInt32(truncatingIfNeeded: length), error: 0, unique: unique)
        return withUnsafeMutableBytes(of: &header) { head in
            var vector = (
                iovec(iov_base: head.baseAddress, iov_len: head.count),
                iovec(iov_base: UnsafeMutableRawPointer(mutating: body.baseAddress), iov_len: body.count)
            )
            return withUnsafePointer(to: &vector) { vector in
                vector.withMemoryRebound(to: iovec.self, capacity: 2) {
                    send($0, count: body.isEmpty ? 1 : 2) == length
                }
            }
        }
    }
}

extension FileSystem {
    /// Undoes a promised creation if the kernel did not take the answer.
    func takeBack(_ created: Created) {
        release(node: created.entry.node, handle: created.opened.handle)
        forget(created.entry.node, lookups: 1)
    }
}

extension Errno {
    /// The errno as a positive number that the kernel accepts as an error. Other numbers become EIO.
    var answer: Int32 { (1..<512).contains(rawValue) ? rawValue : Errno.ioError.rawValue }
}
