// The disk usage of the kept contents and the deleted area, kept current without scans.

import Glibc
import Synchronization
import SystemPackage
import VersionModel

/// The state's bytes on the disk.
public struct StateSpace: Hashable, Sendable {
    /// Contents of versions other than the current ones.
    public var history: Int64
    /// The deleted area.
    public var deleted: Int64
    /// Whether the numbers are known; otherwise they count only additions since the last disorderly end.
    public var isComplete: Bool
}

/// The sum for one shelf. Additions and removals correct it. A scan replaces it, one subdirectory at a time, while both
/// continue.
final class SpaceMeter: Sendable {
    private struct State {
        var bytes: Int64 = 0
        var isComplete = false
        /// A scan's sums; nil without a scan.
        var scan: Scan?
    }

    private struct Scan {
        /// The sum of the finished subdirectories, with later changes to them.
        var bytes: Int64 = 0
        var done: Set<ArraySlice<CChar>> = []
        /// The subdirectory in progress, and whether it has changed meanwhile (it is then read again).
        var current: ArraySlice<CChar> = []
        var changed = false

        mutating func add(_ more: Int64) { bytes = SpaceMeter.sum(bytes, more) }
    }

    /// Allows one scan at a time; held while it reads the directories, and before `state`.
    private let turn = Mutex(())
    /// Guards the sums; held for a few additions, never during a system call.
    private let state = Mutex(State())

    func added(_ name: CName, allocated: Int64) { change(name, by: allocated) }
    func removed(_ name: CName, allocated: Int64) { change(name, by: -allocated) }

    private func change(_ name: CName, by bytes: Int64) {
        state.withLock { state in
            state.bytes = Self.sum(state.bytes, bytes)
            guard state.scan != nil else { return }
            let subdirectory = name.prefix(2)
            if state.scan?.done.contains(subdirectory) == true {
                state.scan?.add(bytes)
            }
            if state.scan?.current == subdirectory { state.scan?.changed = true }
        }
    }

    var value: (bytes: Int64, isComplete: Bool) { state.withLock { (max(0, $0.bytes), $0.isComplete) } }

    func restore(_ bytes: Int64) {
        state.withLock { state in
            // Another program may have written the record, so sums stay far from overflow.
            state.bytes = min(max(0, bytes), 1 << 60)
            state.isComplete = true
        }
    }

    /// Adds up all entries below `directory`; waits for a running scan first.
    /// - Parameter onlyIfUnknown: whether to skip the scan if the sum is known by then.
    func scan(_ directory: FileDescriptor, onlyIfUnknown: Bool = false) throws(Errno) {
        try turn.withLock { _ throws(Errno) in
            if !onlyIfUnknown || !value.isComplete { try scanAll(directory) }
        }
    }

    private func scanAll(_ directory: FileDescriptor) throws(Errno) {
        state.withLock { $0.scan = Scan() }
        do throws(Errno) {
            for number in 0..<256 {
                let hex = String(number, radix: 16)
                let name = ((hex.utf8.count == 1 ? "0" : "") + hex).utf8.map { CChar(bitPattern: $0) }
                try scan(subdirectory: name[...], of: directory)
            }
        } catch {
            state.withLock { $0.scan = nil }
            throw error
        }
        state.withLock { state in
            state.bytes = state.scan?.bytes ?? state.bytes
            state.isComplete = true
            state.scan = nil
        }
    }

    private func scan(subdirectory name: ArraySlice<CChar>, of directory: FileDescriptor) throws(Errno) {
        // A subdirectory that changes all the time counts as last read.
        for attempt in 1...8 {
            state.withLock { state in
                state.scan?.current = name
                state.scan?.changed = false
            }
            let sum = try Self.sum(Array(name) + [0], of: directory)
            let isDone = state.withLock { state in
                if state.scan?.changed == true, attempt < 8 { return false }
                state.scan?.add(sum)
                state.scan?.done.insert(name)
                state.scan?.current = []
                return true
            }
            if isDone { return }
        }
    }

    /// Sparse files may have any size, so the sum saturates.
    private static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, over) = one.addingReportingOverflow(other)
        return over ? (other < 0 ? .min : .max) : sum
    }

    private static func sum(_ name: CName, of directory: FileDescriptor) throws(Errno) -> Int64 {
        let subdirectory: FileDescriptor
        do throws(Errno) {
            subdirectory = try System.openBeneath(name, in: directory, O_RDONLY | O_DIRECTORY)
        } catch .noSuchFileOrDirectory { return 0 }
        defer { System.close(subdirectory) }
        var sum: Int64 = 0
        for entry in try System.names(in: subdirectory) where entry.bytes.count == 32 {
            sum = Self.sum(sum, (try? Occupied.bytes(entry.cName, in: subdirectory)) ?? 0)
        }
        return sum
    }
}
