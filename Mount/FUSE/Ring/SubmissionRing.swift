// A ring of io_uring that one thread uses for the kernel's queues.

import CRing
import Glibc
import SystemPackage

/// Only the thread that made the ring uses it.
final class SubmissionRing {
    /// A completion: the entry, or nil for the watched event, and the result: 0, or a negative errno.
    struct Completion {
        var entry: RingEntry?
        var result: Int32
    }

    private let ring: OpaquePointer
    private let device: Int32
    /// The place for the watched event's value.
    private let value = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)

    /// - Parameter entries: the number of commands that fit between two turns.
    init(device: Int32, entries: UInt32) throws(Errno) {
        guard let ring = ring_open(entries) else {
            value.deallocate()
            throw Errno(rawValue: errno)
        }
        self.ring = ring
        self.device = device
        value.initialize(to: 0)
    }

    deinit {
        ring_close(ring)
        value.deallocate()
    }

    /// Offers an entry to the kernel for the first time.
    func register(_ entry: RingEntry) throws(Errno) {
        try command(UInt32(RING_REGISTER), entry, vectors: entry.vectors, commit: 0)
    }

    /// Sends the answer that is laid out in an entry, and offers the entry for the next request.
    func commit(_ entry: RingEntry) throws(Errno) {
        try command(UInt32(RING_COMMIT_AND_FETCH), entry, vectors: nil, commit: entry.unique)
    }

    /// Watches an eventfd for its next value.
    func watch(_ event: Int32) throws(Errno) {
        if ring_watch(ring, event, value, 0) == 0 { return }
        try submit()
        try check(ring_watch(ring, event, value, 0))
    }

    /// Tries the ring: a process may be allowed to make a ring but not to use it.
    func probe() throws(Errno) {
        try check(ring_nothing(ring, 0))
        _ = try turn()
    }

    /// Sends the prepared commands, without a wait.
    func submit() throws(Errno) { try check(ring_submit(ring)) }

    /// Sends the prepared commands, and waits for one completion.
    func turn() throws(Errno) -> Completion {
        var (tag, result) = (UInt64(0), Int32(0))
        try check(ring_turn(ring, &tag, &result))
        return Completion(entry: Self.entry(tag), result: result)
    }

    /// A completion that is ready.
    func peek() -> Completion? {
        var (tag, result) = (UInt64(0), Int32(0))
        guard ring_peek(ring, &tag, &result) == 0 else { return nil }
        return Completion(entry: Self.entry(tag), result: result)
    }

    private func command(
        _ operation: UInt32, _ entry: RingEntry, vectors: UnsafePointer<iovec>?, commit: UInt64
    ) throws(Errno) {
        // An entry lives as long as the transport, which outlives all rings.
        let tag = UInt64(UInt(bitPattern: Unmanaged.passUnretained(entry).toOpaque()))
        let queue = UInt16(truncatingIfNeeded: entry.queue)
        if ring_command(ring, device, operation, vectors, commit, queue, tag) == 0 { return }
        try submit()
        try check(ring_command(ring, device, operation, vectors, commit, queue, tag))
    }

    private static func entry(_ tag: UInt64) -> RingEntry? {
        UnsafeRawPointer(bitPattern: UInt(tag)).map { Unmanaged<RingEntry>.fromOpaque($0).takeUnretainedValue() }
    }

    private func check(_ result: Int32) throws(Errno) {
        if result < 0 { throw Errno(rawValue: -result) }
    }
}
