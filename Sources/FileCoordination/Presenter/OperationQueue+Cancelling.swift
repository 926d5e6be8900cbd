// Operations of the library on a program's queue, which survive the program's `cancelAllOperations()`.

import Foundation
import Synchronization

extension OperationQueue {
    /// Runs an operation in its turn. If it is cancelled before that, another block runs instead, on another thread.
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
