// What one thread needs to serve a request: the message it is working on and room for a long answer.

import CFuse3
import Glibc

/// The buffers of a thread that serves requests, found again from libfuse's callbacks through the thread.
///
/// A lane belongs to one thread and is used by it alone.
final class Lane {
    /// Where messages are received: the largest write and its headers fit. Empty if messages come in entries.
    let request: UnsafeMutableRawBufferPointer
    private let ownReply: UnsafeMutableRawBufferPointer
    /// Where READ, READDIR and the like lay out their answer.
    private(set) var reply: UnsafeMutableRawBufferPointer
    /// The message being served, headers included.
    var message = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Where the message came in, if it came over a ring.
    private(set) var entry: RingEntry?

    init() {
        let page = 4096
        request = .allocate(byteCount: Negotiation.maximumWrite + page, alignment: page)
        ownReply = .allocate(byteCount: Negotiation.maximumWrite, alignment: page)
        reply = ownReply
    }

    /// A lane whose messages and answers are in entries.
    init(borrowing: ()) {
        request = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        ownReply = request
        reply = request
    }

    deinit {
        request.deallocate()
        ownReply.deallocate()
    }

    /// Takes up the request of an entry.
    func borrow(_ entry: RingEntry, _ message: UnsafeRawBufferPointer) {
        self.entry = entry
        self.message = message
        // What a request has to say about its answer is in front of the payload.
        reply = entry.payload
    }

    /// Lets go of the entry. Nil if that has happened already, or there was none.
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
