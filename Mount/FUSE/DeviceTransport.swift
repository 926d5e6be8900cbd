// The classic transport: threads read requests from /dev/fuse, serve them and send the answers.

import CFuse3
import Glibc
import Synchronization
import SystemPackage

/// Reader threads over the session's descriptor, at least one of them always waiting for the next request.
///
/// The lock guards the list of threads only; no request is served under it.
final class DeviceTransport: Transport {
    private struct Threads {
        var running = 0
        /// Ended, not yet joined.
        var ended: [pthread_t] = []
        var reason: Errno?
    }
    let descriptor: Int32
    let serve: @Sendable (Lane) -> Void
    private let most: Int
    /// The most readers that wait. A thread's start costs as much as several requests, so a reader ends only when many
    /// others are idle.
    private let mostIdle = 8
    private let idle = Atomic<Int>(0)
    /// Requests arrive over a ring; this transport gets only messages without an answer.
    private let isAside = Atomic<Bool>(false)
    /// The time in which FORGETs gather.
    private static let gatheringMicroseconds: UInt32 = 5_000
    private let threads = Monitor(Threads())

    /// `serve` is called with a lane whose message has been received.
    init(descriptor: Int32, most: Int = 16, serve: @escaping @Sendable (Lane) -> Void) {
        self.descriptor = descriptor
        self.most = most
        self.serve = serve
    }

    func send(_ message: UnsafePointer<iovec>, count: Int32) -> Int {
        writev(descriptor, message, count)
    }

    /// The thread that answers a request writes to the same descriptor.
    func park(_ lane: Lane) -> Bool { true }

    /// Receives one message into the lane, waiting for it.
    func receive(_ lane: Lane) throws(Errno) {
        while true {
            let count = Glibc.read(descriptor, lane.request.baseAddress, lane.request.count)
            if count >= MemoryLayout<wire_header_in>.size {
                lane.message = UnsafeRawBufferPointer(rebasing: lane.request[..<count])
                return
            }
            if count >= 0 { continue }
            let error = Errno(rawValue: errno)
            // ENOENT: the request was withdrawn before it was read.
            if error != .interrupted && error != .resourceTemporarilyUnavailable && error != .noSuchFileOrDirectory {
                throw error
            }
        }
    }

    /// Whether a message is one of FORGET or BATCH_FORGET, which have no answer.
    private static func isForgetting(_ lane: Lane) -> Bool {
        let opcode = lane.message.value(wire_header_in.self)?.opcode
        return opcode == Opcode.forget || opcode == Opcode.forgetMany
    }

    func run() -> Errno { run(aside: false) }

    /// - Parameter aside: whether a ring carries the requests.
    func run(aside: Bool) -> Errno {
        isAside.store(aside, ordering: .relaxed)
        spawn()
        while true {
            // Joins the ended readers; not nil only once no reader is left.
            let finished = threads.wait { state -> [pthread_t]? in
                if state.ended.isEmpty && state.running > 0 { return nil }
                defer { state.ended = [] }
                return state.ended
            }
            if finished.isEmpty { break }
            for thread in finished { pthread_join(thread, nil) }
        }
        return threads.with { $0.reason ?? .operationNotSupportedByDevice }
    }

    private func spawn() {
        let room = threads.with { state in
            guard state.running < most, state.reason == nil else { return false }
            state.running += 1
            return true
        }
        guard room else { return }
        idle.add(1, ordering: .relaxed)
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                // Balances `passRetained` above.
                Unmanaged<DeviceTransport>.fromOpaque(pointer).takeRetainedValue().read()
                return nil
            }, context.toOpaque())
        guard failure != 0 else { return }
        context.release()
        idle.subtract(1, ordering: .relaxed)
        threads.with { state in
            state.running -= 1
            // Without a reader there is nothing to wait for.
            if state.running == 0 { state.reason = Errno(rawValue: failure) }
        }
    }

    /// The loop of a reader.
    private func read() {
        wire_name_thread("fuse-reader")
        ThreadSetup.prepare()
        let lane = Lane()
        var reason: Errno?
        lane.whileCurrent {
            while true {
                do throws(Errno) { try receive(lane) } catch {
                    reason = error
                    idle.subtract(1, ordering: .relaxed)
                    break
                }
                // A program that removes many files need not wake this thread for each FORGET: the next ones come
                // together.
                let mayGather = isAside.load(ordering: .relaxed) && Self.isForgetting(lane)
                if idle.subtract(1, ordering: .relaxed).newValue == 0, !mayGather { spawn() }
                serve(lane)
                if mayGather { usleep(Self.gatheringMicroseconds) }
                if idle.add(1, ordering: .relaxed).newValue > mostIdle {
                    idle.subtract(1, ordering: .relaxed)
                    break
                }
            }
        }
        threads.with { state in
            state.running -= 1
            state.ended.append(pthread_self())
            if let reason, state.reason == nil { state.reason = reason }
        }
    }
}

/// The setup of every thread that runs handlers.
enum ThreadSetup {
    /// Gives the thread its own umask and working directory, so that a handler can set the caller's umask before it
    /// creates a file. Also leaves signals to the daemon's signal thread.
    static func prepare() {
        _ = wire_own_file_system_context()
        var signals = sigset_t()
        sigfillset(&signals)
        for signal in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT] { sigdelset(&signals, signal) }
        pthread_sigmask(SIG_SETMASK, &signals, nil)
    }
}
