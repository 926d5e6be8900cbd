// The files that requests are about, by descriptors: a look at one needs no name of it and no lock.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel

/// Holds a descriptor of each file that a request is about, or that a program has open for writing.
final class FilesInReach: FilesBelow {
    private struct Held {
        var descriptor: SharedDescriptor
        var uses: Int
    }

    /// A closure in a lock by itself would be wrapped once more with each look.
    private struct Finder {
        var find: (@Sendable (FileID) -> SharedDescriptor?)?
        var awaitsCapture: (@Sendable (FileID) -> Bool)?
        var isStillWritten: (@Sendable (FileID) -> Bool)?
    }

    /// Innermost.
    private let held = RankedMutex([FileID: Held]())
    private let finder = RankedMutex(Finder())

    /// Says how a file is found that no request is about: by its names.
    func connect(_ find: @escaping @Sendable (FileID) -> SharedDescriptor?) { finder.withLock { $0.find = find } }

    /// Says which files are databases that wait for a capture.
    func connect(awaitsCapture: @escaping @Sendable (FileID) -> Bool) {
        finder.withLock { $0.awaitsCapture = awaitsCapture }
    }

    /// Says which files programs from before this mount may still write to.
    func connect(isStillWritten: @escaping @Sendable (FileID) -> Bool) {
        finder.withLock { $0.isStillWritten = isStillWritten }
    }

    /// Keeps a file in reach until it is let go as often.
    func hold(_ file: FileID, _ descriptor: SharedDescriptor) {
        held.withLock { $0[file, default: Held(descriptor: descriptor, uses: 0)].uses += 1 }
    }

    /// Has a file in reach by a path descriptor alone, if it is in reach: one for writing would count as a writer where
    /// it is asked whether there is one.
    func holdByPath(_ file: FileID, _ descriptor: SharedDescriptor) {
        guard let path = try? Backing.open([], in: descriptor.raw, flags: linux_O_PATH) else { return }
        show(SharedDescriptor(path), insteadOf: file)
    }

    /// Has a file that is in reach looked at by another descriptor.
    func show(_ descriptor: SharedDescriptor, insteadOf file: FileID) {
        let former = held.withLock { held in
            let former = held[file]?.descriptor
            held[file]?.descriptor = descriptor
            return former
        }
        withExtendedLifetime(former) {}
    }

    func letGo(_ file: FileID) {
        // Closed outside the lock.
        let last = held.withLock { held -> SharedDescriptor? in
            guard var one = held[file] else { return nil }
            one.uses -= 1
            held[file] = one.uses > 0 ? one : nil
            return one.descriptor
        }
        withExtendedLifetime(last) {}
    }

    private func descriptor(of file: FileID) -> SharedDescriptor? {
        held.withLock { $0[file]?.descriptor } ?? finder.withLock { $0.find }?(file)
    }

    /// The descriptor of a file that a request has in reach.
    func inReach(_ file: FileID) -> SharedDescriptor? { held.withLock { $0[file]?.descriptor } }

    // MARK: What the engine asks

    func status(of file: FileID) throws(Errno) -> FileStat? {
        guard let descriptor = descriptor(of: file) else { return nil }
        return try Backing.stat(descriptor.raw)
    }

    func awaitsCapture(_ file: FileID) -> Bool { finder.withLock { $0.awaitsCapture }?(file) ?? false }

    func isStillWritten(_ file: FileID) -> Bool { finder.withLock { $0.isStillWritten }?(file) ?? false }

    /// What is recorded of a file beside its content.
    struct Look {
        var rights: Attributes
        var size: UInt64
        var modified: Timestamp
        var changed: Timestamp
    }

    /// nil if there is no such file any more.
    func attributes(of file: FileID) -> Look? {
        guard let descriptor = descriptor(of: file) else { return nil }
        return withExtendedLifetime(descriptor) {
            guard let stat = try? Backing.stat(descriptor.raw) else { return nil }
            let rights = Attributes(held: descriptor.raw, stat)
            return Look(rights: rights, size: stat.size, modified: stat.modified, changed: stat.changed)
        }
    }

    func open(_ file: FileID) throws(Errno) -> SharedDescriptor {
        guard let descriptor = descriptor(of: file) else { throw .noSuchFileOrDirectory }
        if descriptor.isForReading { return descriptor }
        do throws(Errno) {
            return SharedDescriptor(try Backing.openToRead(descriptor.raw, flags: linux_O_NOATIME))
        } catch {
            guard error == .notPermitted else { throw error }
            return SharedDescriptor(try Backing.openToRead(descriptor.raw))
        }
    }

    /// A file without a name and a handle goes by itself, once no descriptor is left.
    func forget(_ file: FileID) {}
}
