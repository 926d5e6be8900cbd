// The thread that keeps the spare entries. It passes requests in these entries to the queue's own threads, so that it
// is never busy.

import CLinux
import CRing
import Glibc
import Synchronization
import SystemPackage

/// Offers entries to the kernel, and passes on their requests.
///
/// The kernel uses the ring only when each queue has an entry, and it has a queue for every possible processor. This
/// one thread keeps all of them, so a processor without requests costs no thread.
///
/// The lock guards the list of entries with a late answer.
final class RingKeeper: Sendable {
    private enum Stage {
        case starting, ready, registering, serving, over
        case failed(Errno)
    }
    private let event: Int32
    private let answered = Mutex<[RingEntry]>([])
    private let stage = Monitor(Stage.starting)

    init() throws(Errno) {
        event = linux_eventfd()
        guard event >= 0 else { throw Errno(rawValue: errno) }
    }

    deinit { close(event) }

    /// Sends the answer of a parked entry. From any thread.
    func commit(_ entry: RingEntry) {
        answered.withLock { $0.append(entry) }
        _ = linux_eventfd_signal(event)
    }

    // MARK: The stages of a session

    /// Waits until the ring exists.
    func awaitReady() throws(Errno) {
        try outcome { stage in
            if case .starting = stage { return false }
            return true
        }
    }

    /// Registers the entries; INIT must be answered before. No request is served before ``serve()``.
    func register() throws(Errno) {
        stage.with { $0 = .registering }
        try outcome { stage in
            if case .registering = stage { return false }
            return true
        }
    }

    /// The file system is ready for requests.
    func serve() { stage.with { $0 = .serving } }

    /// The connection is gone, or was never used.
    func end() {
        stage.with { $0 = .over }
        _ = linux_eventfd_signal(event)
    }

    private func outcome(_ isKnown: (Stage) -> Bool) throws(Errno) {
        let error = stage.wait { stage -> Errno?? in
            if case .failed(let error) = stage { return .some(error) }
            return isKnown(stage) ? .some(nil) : nil
        }
        if let error { throw error }
    }

    // MARK: The thread

    func live(_ transport: RingTransport, _ entries: [RingEntry]) {
        do {
            let ring = try SubmissionRing(device: transport.descriptor, entries: 64)
            try ring.probe()
            stage.with { $0 = .ready }
            guard (stage.wait { Self.hasLeft($0, .ready) }) else { return }
            for entry in entries { try ring.register(entry) }
            try ring.submit()
            // An entry that cannot be registered comes back at once, and then the kernel uses /dev/fuse for good.
            // Requests may come as soon as every queue has an entry.
            var early: [RingEntry] = []
            while let came = ring.peek() {
                guard came.result >= 0 else { throw Errno(rawValue: -came.result) }
                if let entry = came.entry { early.append(entry) }
            }
            stage.with { if case .registering = $0 { $0 = .ready } }
            guard (stage.wait { Self.hasLeft($0, .ready) }) else { return }
            try ring.watch(event)
            let lane = Lane(borrowing: ())
            lane.whileCurrent {
                for entry in early { pass(entry, ring, transport, lane) }
                passAll(ring, transport, lane)
            }
        } catch {
            stage.with { $0 = .failed(error as? Errno ?? .ioError) }
        }
    }

    /// Whether to continue; nil while the stage is the same.
    private static func hasLeft(_ stage: Stage, _ old: Stage) -> Bool? {
        switch (stage, old) {
        case (.over, _): false
        case (.ready, .ready): nil
        default: true
        }
    }

    private func pass(_ entry: RingEntry, _ ring: SubmissionRing, _ transport: RingTransport, _ lane: Lane) {
        guard !transport.hand(entry) else { return }
        // No thread could be started, so this one serves the request.
        if transport.process(entry, lane) { try? ring.commit(entry) }
    }

    /// Passes requests on until the end.
    private func passAll(_ ring: SubmissionRing, _ transport: RingTransport, _ lane: Lane) {
        while true {
            guard let came = try? ring.turn() else { return }
            if let entry = came.entry {
                // A negative result: the entry is gone with the connection; the event reports the end.
                if came.result >= 0 { pass(entry, ring, transport, lane) }
                continue
            }
            if stage.with({ if case .over = $0 { true } else { false } }) { return }
            let late = answered.withLock { list in
                defer { list = [] }
                return list
            }
            for entry in late { try? ring.commit(entry) }
            guard (try? ring.watch(event)) != nil else { return }
        }
    }
}
