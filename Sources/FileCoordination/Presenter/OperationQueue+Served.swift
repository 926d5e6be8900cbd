// Operation queues with threads of their own while other threads wait in coordinators.

import Foundation

extension OperationQueue {
    /// Lets the queue's operations run while all threads of tasks and of plain queues wait.
    ///
    /// On Linux operations of the default quality share few threads with Swift's tasks and dispatch's global queue.
    /// While these are blocked, only one new thread starts per second. So a thread that waits there in a coordinator
    /// for a presenter would wait for itself. Operations of the next higher quality have threads of their own. A queue
    /// with an explicit quality is not changed.
    func beServed() {
        if self !== OperationQueue.main, qualityOfService == .default { qualityOfService = .userInitiated }
    }
}
