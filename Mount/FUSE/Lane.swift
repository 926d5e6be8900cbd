// The buffers of one thread: the message that it serves, and room for a long answer.

import CFuse3
import Glibc

/// The buffers of a serving thread. libfuse's callbacks find them through the thread.
///
/// Only its own thread uses a lane.
final class Lane {
    /// Where messages are received, with room for the largest write and its headers. Empty if messages come in ring
    /// entries.
    let request: UnsafeMutableRawBufferPointer
    private let ownReply: UnsafeMutableRawBufferPointer
    /// Where READ, READDIR and the like lay out their answer.
    private(set) var reply: UnsafeMutableRawBufferPointer
    /// The message being served, headers included.
    var message = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The ring entry of the message, if it came over a ring.
    private(set) var entry: RingEntry?

    init() {
        let page = 4096
        request = .allocate(byteCount: Negotiation.maximumWrite + page, alignment: page)
        ownReply = .allocate(byteCount: Negotiation.maximumWrite, alignment: page)
        reply = ownReply
    }

    /// A lane that uses the buffers of ring entries for messages and answers.
    init(borrowing: ()) {
        request = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        ownReply = request
        reply = request
    }

    deinit {
        request.deallocate()
        ownReply.deallocate()
    }

    /// Starts to serve the request of an entry.
    func borrow(_ entry: RingEntry, _ message: UnsafeRawBufferPointer) {
        self.entry = entry
        self.message = message
        // The part of a request that describes its answer lies in front of the payload.
        reply = entry.payload
    }

    /// Releases the entry. Nil if the lane has none.
    @discardableResult
    func giveBack() -> RingEntry? {
        defer { entry = nil }
        return entry
    }

    /// One key for all sessions: a thread serves one at a time.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// The lane of the calling thread, if it has one.
    static var current: Lane? {
        guard let key, let pointer = pthread_getspecific(key) else { return nil }
        return Unmanaged<Lane>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Makes this the lane of the calling thread while `body` runs.
    func whileCurrent(_ body: () -> Void) {
        guard let key = Self.key else { return }
        withExtendedLifetime(self) {
            pthread_setspecific(key, Unmanaged.passUnretained(self).toOpaque())
            body()
            pthread_setspecific(key, nil)
        }
    }

    /// A structure of the message's body.
    func body<Value: BitwiseCopyable>(_ type: Value.Type) -> Value? {
        message.value(type, at: MemoryLayout<wire_header_in>.size)
    }
}
