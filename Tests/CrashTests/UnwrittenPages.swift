// What of files a simulated disk has, where that is not what they hold.

import CLinux
import CrashLoad
import Foundation
import Glibc
import SystemPackage

@testable import VersionStore

/// The files that were written to and not synchronized since, in the order in which they were: a run can be repeated.
final class UnwrittenPages {
    /// A file, wherever its name has gone.
    private final class File {
        /// Opened with O_PATH: it keeps the inode from being another file's, and counts as nobody's opening.
        let held: FileDescriptor
        /// What the disk has; nil if that is all.
        var durable: [UInt8]?

        init(_ held: FileDescriptor) { self.held = held }
        deinit { try? held.close() }

        /// Of any file, also without a name.
        var path: String { "/proc/self/fd/\(held.rawValue)" }
    }

    private var files: [ino_t: File] = [:]
    private var order: [ino_t] = []

    /// The inode of a file, which it keeps until ``forget()``.
    func inode(of path: String) throws -> ino_t {
        let held = try FileDescriptor.open(FilePath(path), .init(rawValue: linux_O_PATH), options: .noFollow)
        var status = stat()
        guard fstat(held.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
        if files[status.st_ino] == nil {
            files[status.st_ino] = File(held)
            order.append(status.st_ino)
        } else {
            try held.close()
        }
        return status.st_ino
    }

    /// A file was made, or emptied.
    func begin(_ inode: ino_t, with bytes: [UInt8]) { files[inode]?.durable = bytes }

    /// It is about to change.
    func willChange(_ inode: ino_t) {
        guard let file = files[inode], file.durable == nil else { return }
        file.durable = Inspection.read(file.path)
    }

    func truncated(_ inode: ino_t, to size: Int) {
        if let held = files[inode]?.durable, held.count > size { files[inode]?.durable = Array(held.prefix(size)) }
    }

    func synchronized(_ inode: ino_t) { files[inode]?.durable = nil }

    func forget() { (files, order) = ([:], []) }

    /// Any part of what was not synchronized is gone.
    func lose(_ dice: inout Dice) throws {
        for inode in order {
            guard let file = files[inode], let old = file.durable, let new = Inspection.read(file.path) else {
                continue
            }
            let left = mixture(old, new, &dice)
            guard left != new else { continue }
            let descriptor = try FileDescriptor.open(FilePath(file.path), .writeOnly)
            defer { try? descriptor.close() }
            var status = stat()
            guard fstat(descriptor.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
            try descriptor.writeAll(toAbsoluteOffset: 0, left)
            _ = ftruncate(descriptor.rawValue, left.count)
            // Times are in the log.
            _ = futimens(descriptor.rawValue, [status.st_atim, status.st_mtim])
        }
    }

    private func mixture(_ old: [UInt8], _ new: [UInt8], _ dice: inout Dice) -> [UInt8] {
        switch Int.random(in: 0..<4, using: &dice) {
        case 0: return old.count <= new.count ? old : new
        case 1: return new
        case 2:
            // It has grown so far.
            guard old.count <= new.count, old == Array(new.prefix(old.count)) else { return new }
            return Array(new.prefix(Int.random(in: old.count...new.count, using: &dice)))
        default:
            var result = new
            for start in stride(from: 0, to: new.count, by: 4096) where Bool.random(using: &dice) {
                for index in start..<min(start + 4096, new.count) { result[index] = index < old.count ? old[index] : 0 }
            }
            return result
        }
    }
}
