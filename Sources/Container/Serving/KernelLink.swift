// What a container asks of the kernel side of its mount; without a mount it does without.

import Synchronization
import SystemPackage

/// Passthrough registrations and the kernel's caches, as the mount offers them.
public protocol KernelSide: AnyObject, Sendable {
    /// Whether files may be registered at all.
    var passesThrough: Bool { get }
    func register(backing descriptor: Int32) throws(Errno) -> Int32
    func unregister(backing: Int32)
    func invalidate(entry name: [UInt8], in directory: UInt64)
    func invalidate(node: UInt64, data: Bool)
    /// Waits until no system call holds a directory's names.
    func awaitNames(of directory: UInt64)
}

/// Holds the kernel side once there is one. Lock order: last.
final class KernelLink: Sendable {
    private struct State { var side: (any KernelSide)? }
    private let state = RankedMutex(State())

    var side: (any KernelSide)? { state.withLock(\.side) }
    func connect(_ side: any KernelSide) { state.withLock { $0.side = side } }
}
