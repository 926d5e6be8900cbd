import Container
import Synchronization

/// Takes notes of what requests do. It is called under the container's locks, so it does no more than that.
public final class Ear: EventListener {
    private let heard = Mutex<[RequestEvent]>([])

    public init() {}

    public func happened(_ event: RequestEvent) { heard.withLock { $0.append(event) } }

    /// What was heard since the last call.
    func take() -> [RequestEvent] {
        heard.withLock { heard in
            defer { heard = [] }
            return heard
        }
    }
}
