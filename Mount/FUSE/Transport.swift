// The transport of messages between the kernel and the driver.

import Glibc
import SystemPackage

/// A way for requests to come in and answers to go out.
protocol Transport: AnyObject, Sendable {
    /// Serves requests until the connection ends; returns when none of its threads is left.
    ///
    /// - Returns: the reason of the end: ENODEV or ECONNABORTED when the mount is gone.
    func run() -> Errno
    /// Sends an answer or a notification like writev(2): returns the number of bytes, or -1 with errno.
    func send(_ message: UnsafePointer<iovec>, count: Int32) -> Int
    /// Notes that the request of this lane, the calling thread's, gets a late answer: from now on any thread may
    /// answer.
    ///
    /// - Returns: whether the request may wait. If not, its wait should end soon, because there is little room for
    ///   more.
    func park(_ lane: Lane) -> Bool
}
