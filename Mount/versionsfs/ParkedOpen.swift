// An open that waits in the container. Its answer goes through the driver.

import Container
import FUSE
import SystemPackage

/// The driver's deferred answer as the container knows it.
final class ParkedOpen: WaitingOpen {
    private let deferred: Deferred<Opened>

    init(_ deferred: Deferred<Opened>) { self.deferred = deferred }

    func complete(_ result: Result<OpenReply, Errno>) -> Bool { deferred.complete(result.map { Opened($0) }) }
    func onInterrupt(_ handler: @escaping @Sendable () -> Void) { deferred.onInterrupt(handler) }
}
