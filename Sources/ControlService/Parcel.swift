// Carries something from a backend's thread to the event loop.

import Synchronization

/// What a backend's thread has found out, until the event loop takes it.
final class Parcel<Content: Sendable>: Sendable {
    /// Guards the content alone.
    private let content = Mutex<Content?>(nil)
    func put(_ content: Content) { self.content.withLock { $0 = content } }
    func take() -> Content? { content.withLock { $0.take() } }
}
