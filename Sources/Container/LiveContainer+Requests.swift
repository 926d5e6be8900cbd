// What a class of its own answers: who asks, and requests that are the same whatever is kept.

import Glibc
import SystemPackage

extension LiveContainer {
    // MARK: Callers

    func requester(_ caller: Caller, isOpening: Bool = false) -> Requester {
        callers.requester(caller, isOpening: isOpening)
    }

    func requester(_ principal: Principal) -> Requester { callers.requester(principal) }
    func learn(_ caller: Caller) { callers.learn(caller) }

    // MARK: Directories

    public func openDirectory(_ caller: Caller, node: UInt64) throws(Errno) -> UInt64 {
        try directoryRequests.open(node)
    }

    public func releaseDirectory(node: UInt64, handle: UInt64) { directoryRequests.release(handle) }

    /// Whether the kernel may keep a directory's listing: every change of it comes through the mount.
    public func mayCacheListing(_ node: UInt64) -> Bool { directoryRequests.mayCacheListing(node) }

    /// Gives entries behind `offset` to `take` until it answers false.
    public func list(
        _ caller: Caller, node: UInt64, handle: UInt64, offset: off_t, withAttributes: Bool,
        take: (ListedEntry) -> Bool
    ) throws(Errno) {
        try directoryRequests.list(handle, offset: offset, withAttributes: withAttributes, take: take)
    }

    public func synchronizeDirectory(node: UInt64) throws(Errno) { try directoryRequests.synchronize(node) }
}
