// Passes a value from a backend's thread to the event loop.

import Synchronization

/// A result of a backend's thread, until the event loop takes it.
final class Parcel<Content: Sendable>: Sendable {
    /// Guards only the content.
    private let content = Mutex<Content?>(nil)
    func put(_ content: Content) { self.content.withLock { $0 = content } }
    func take() -> Content? { content.withLock { $0.take() } }
}
