// Operation queues that get a thread though others wait in coordinators.

import Foundation

extension OperationQueue {
    /// Has the queue's operations run although all threads for tasks and for plain queues wait.
    ///
    /// On Linux operations of the default quality share their few threads with Swift's tasks and dispatch's global queue,
    /// and get another one only each second while those are blocked: whoever waits there in a coordinator for a presenter
    /// would wait for itself. Of the next higher quality they have threads of their own. A queue that says what it wants
    /// is left alone.
    func beServed() {
        if self !== OperationQueue.main, qualityOfService == .default { qualityOfService = .userInitiated }
    }
}
