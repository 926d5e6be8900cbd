// Changes that are made through the control socket, in turn with coordinated accesses.

import Coordination
import Dispatch
import VersionModel
import VersionStore

extension Finder {
    /// Makes a change as a plain program's open for writing would be made: presenters let the item go first, claims of
    /// others are waited for, at most as long as such an open waits; then it goes on, and holders of claims hear of it.
    /// What a client does in its own claim waits for nothing. For threads that may wait; called with no lock held.
    public func inTurn<Result, Failure: Error>(
        with access: Access, as principal: Principal, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard coordinator.isInUse else { return try body() }
        let (claim, patience) = (coordinator.newClaim(), host.serving.policy.settings.replaceWaitNanoseconds)
        let isFree = DispatchSemaphore(value: 0)
        let isAdmitted = coordinator.admit(
            claim, access, by: host.serving.callers.requester(principal), descriptor: nil, patience: patience,
            mayWait: true
        ) { isFree.signal() }
        defer { coordinator.closed(claim) }
        // A second more than the limit: no thread wakes waiting opens while the container closes.
        let limit = patience.addingReportingOverflow(1_000_000_000)
        if !isAdmitted {
            _ = isFree.wait(timeout: .now() + .nanoseconds(Int(limit.overflow ? .max : limit.partialValue)))
        }
        return try body()
    }
}
