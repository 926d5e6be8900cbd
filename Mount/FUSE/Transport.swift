// How messages travel between the kernel and the driver.

import Glibc
import SystemPackage

/// The way requests come in and answers go out.
protocol Transport: AnyObject, Sendable {
    /// Serves requests until the connection ends; returns when no thread of it is left.
    ///
    /// - Returns: why it ended: ENODEV or ECONNABORTED when the mount is gone.
    func run() -> Errno
    /// Sends an answer, or a notification, as writev(2) does: the bytes sent, or -1 with errno.
    func send(_ message: UnsafePointer<iovec>, count: Int32) -> Int
    /// The request of this lane, which is the calling thread's, will be answered later: from now on any thread may.
    ///
    /// - Returns: whether it may wait; if not, its wait should end soon, because there is little room for more.
    func park(_ lane: Lane) -> Bool
}
