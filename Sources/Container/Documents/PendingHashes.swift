// Versions without a hash yet.

import Glibc
import Synchronization
import VersionModel

/// A set in order of arrival. Bounded, because a missing hash is harmless. Lock order: last.
final class PendingHashes: @unchecked Sendable {
    // Sendable because a mutex guards each variable. A pthread mutex, because threads wait for the end of a read.
    private let versions = RankedMutex<[VersionID]>([])
    private let ended = Atomic<Bool>(false)
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let closed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// The file that is being read.
    private var file: Int32?
    /// How many were closed.
    private var count: UInt64 = 0

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(closed, nil)
    }

    deinit {
        pthread_cond_destroy(closed)
        closed.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Whether the container is being closed: no program waits for a hash, and the next save may compute it.
    var hasEnded: Bool { ended.load(ordering: .relaxed) }

    func end() { ended.store(true, ordering: .relaxed) }

    /// - Returns: whether it is the first, so that the hashing must be started.
    func add(_ version: VersionID) -> Bool {
        versions.withLock { versions in
            guard versions.count < 10_000, versions.last != version else { return false }
            versions.append(version)
            return versions.count == 1
        }
    }

    func takeAll() -> [VersionID] {
        versions.withLock { versions in
            defer { versions = [] }
            return versions
        }
    }

    // MARK: The file that is read

    /// Opens a file, reads it, and closes it. Only one thread reads, and takes no lock meanwhile.
    ///
    /// - Parameter body: the file, and whether the read is to go on: not once the file has no name, because it would
    ///   keep its room.
    func reading<Result>(
        _ open: () -> SharedDescriptor?, _ body: (_ file: Int32, _ isWanted: () -> Bool) -> Result?
    ) -> Result? {
        var descriptor = open()
        guard let raw = descriptor?.raw else { return nil }
        locked { file = raw }
        let result = withExtendedLifetime(descriptor) { body(raw) { !hasEnded && !Self.isRemoved(raw) } }
        descriptor = nil
        locked {
            (file, count) = (nil, count &+ 1)
            pthread_cond_broadcast(closed)
        }
        return result
    }

    /// Waits until a file that has lost its name is closed: a moment later, because its read ends.
    func closeRemoved() {
        locked {
            guard let file, Self.isRemoved(file) else { return }
            let before = count
            while count == before { pthread_cond_wait(closed, mutex) }
        }
    }

    private static func isRemoved(_ file: Int32) -> Bool {
        var status = stat()
        return fstat(file, &status) == 0 && status.st_nlink == 0
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
