// Operations on a program's queue: who cancels all that waits there does not mean these, of which they do not know.

import Foundation
import Synchronization

extension OperationQueue {
    /// Has something run in its turn, or something else, on another thread, if it is cancelled before that.
    func add(
        priority: Operation.QueuePriority = .normal, _ body: @escaping @Sendable () -> Void,
        ifCancelled otherwise: @escaping @Sendable () -> Void
    ) {
        let hasRun = Once()
        let operation = BlockOperation {
            hasRun.set()
            body()
        }
        operation.queuePriority = priority
        operation.completionBlock = { if !hasRun.isSet { otherwise() } }
        addOperation(operation)
    }

    private final class Once: Sendable {
        private let flag = Atomic(false)
        var isSet: Bool { flag.load(ordering: .acquiring) }
        func set() { flag.store(true, ordering: .releasing) }
    }
}
