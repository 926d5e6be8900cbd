// The marks of a container in a file of its state.

import CLinux
import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// A file of slots. A slot has one mark or none; a slot that a kill has left in the middle of a write has none: what it
/// was for had not begun.
///
/// | bytes of a slot | |
/// |---|---|
/// | 8 | checksum of the others; 0 for none |
/// | 1, 1 | kind; length of the name |
/// | 8, 8 | the directory of a place; the file; the file and the generation of a content |
/// | 255 | the name of a place |
///
/// The first slot has the boot. Nothing is synchronized: a kill of the daemon takes nothing of it, and after a power
/// cut recent facts are looked at as well.
final class MarkFile: Marks {
    static let name = "marks"
    static let slotSize = 288
    /// What is read at most.
    private static let most = 1 << 28
    /// Slots are allocated in advance, so that a full disk refuses none.
    private static let step = 1 << 16
    /// The part that is written through memory, where the file system allows that without a trap: no system call.
    private static let capacity = 1 << 24

    private struct State {
        var memory: UInt?
        var slots: [Mark: (slot: Int, count: Int)] = [:]
        var free: [Int] = []
        var next = 1
        var allocated = 0
        var hasFailed = false
    }

    private let file: SharedDescriptor
    private let facts: FactStore
    private let logger: Logger
    /// Innermost; held across the write of a slot.
    private let state = RankedMutex(State())

    /// Begins without marks: those that were there have been read.
    init(in directory: FileDescriptor, facts: FactStore, logger: Logger) throws(Errno) {
        (self.facts, self.logger) = (facts, logger)
        // A new file: no other process may have this one in its memory.
        do throws(Errno) { try Backing.unlink(Array(Self.name.utf8), in: directory.rawValue) } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
        }
        file = SharedDescriptor(
            try Backing.open(path: Self.name, in: directory.rawValue, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600))
        if linux_may_append_in_memory(file.raw) == 1 {
            let memory = linux_map_shared(file.raw, Self.capacity)
            state.withLock { $0.memory = memory.map { UInt(bitPattern: $0) } }
        }
        try state.withLock { (state) throws(Errno) in
            try write(MarkSlot(kind: .boot, first: Self.boot.high, second: Self.boot.low), at: 0, &state)
        }
    }

    deinit {
        state.withLock { state in
            if let memory = state.memory.flatMap({ UnsafeMutableRawPointer(bitPattern: $0) }) {
                linux_unmap(memory, Self.capacity)
            }
            state.memory = nil
        }
    }

    /// Where it cannot be read, each mount counts as a boot.
    private static let boot: ContentID = {
        guard let file = try? Backing.open(path: "/proc/sys/kernel/random/boot_id", in: AT_FDCWD, flags: O_RDONLY)
        else { return .random() }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = pread(file, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(0, count)).filter { $0 != 45 && $0 != 10 }
        return ContentID(hex: String(decoding: digits, as: UTF8.self)) ?? .random()
    }()

    // MARK: Reading

    /// What a former mount has left.
    struct Left {
        var places: Set<Place> = []
        var files: Set<FileID> = []
        var contents: Set<Content> = []
        /// Whether the machine has not been started since: all that was done is on the disk.
        var isOfThisBoot = false
        /// When something was marked last; nil if there was no file.
        var changed: Timestamp?

        var isEmpty: Bool { places.isEmpty && files.isEmpty && contents.isEmpty }
    }

    static func read(in directory: FileDescriptor) -> Left {
        var left = Left()
        guard let opened = try? Backing.openRegular(path: name, in: directory.rawValue, flags: O_RDONLY) else {
            return left
        }
        let file = SharedDescriptor(opened)
        guard let stat = try? Backing.stat(file.raw) else { return left }
        left.changed = stat.modified
        var bytes = [UInt8](repeating: 0, count: Int(clamping: min(stat.size, UInt64(most))))
        let count = max(0, pread(file.raw, &bytes, bytes.count, 0))
        for start in stride(from: 0, through: count - slotSize, by: slotSize) {
            guard let slot = MarkSlot(bytes[start..<(start + slotSize)]) else { continue }
            left.add(slot)
        }
        return left
    }

    // MARK: Marking

    func add(_ mark: Mark) {
        guard let slot = slot(of: mark) else { return }
        let failure = state.withLock { state -> Errno? in
            if let known = state.slots[mark] {
                state.slots[mark] = (known.slot, known.count + 1)
                return nil
            }
            let place = state.free.popLast() ?? state.next
            state.next = max(state.next, place + 1)
            state.slots[mark] = (place, 1)
            do throws(Errno) { try write(slot, at: place, &state) } catch {
                defer { state.hasFailed = true }
                return state.hasFailed ? nil : error
            }
            return nil
        }
        if let failure { logger.error("what is under way cannot be noted: \(failure)") }
    }

    func remove(_ mark: Mark) {
        state.withLock { state in
            guard let known = state.slots[mark] else { return }
            guard known.count <= 1 else {
                state.slots[mark] = (known.slot, known.count - 1)
                return
            }
            state.slots[mark] = nil
            state.free.append(known.slot)
            put([UInt8](repeating: 0, count: 8), at: known.slot, state)
        }
    }

    private func slot(of mark: Mark) -> MarkSlot? {
        switch mark {
        case .file(let file): return MarkSlot(kind: .file, first: file.number, second: 0)
        case .content(let content):
            return MarkSlot(kind: .content, first: content.file.number, second: content.generation)
        case .place(let number):
            guard let place = (try? facts.place(number)) ?? nil else { return nil }
            return MarkSlot(kind: .place, first: place.directory.number, second: 0, name: place.name.bytes)
        }
    }

    private func write(_ slot: MarkSlot, at place: Int, _ state: inout State) throws(Errno) {
        let end = (place + 1) * Self.slotSize
        while end > state.allocated {
            _ = try Backing.check { linux_fallocate(file.raw, 0, off_t(state.allocated), off_t(Self.step)) }
            state.allocated += Self.step
        }
        put(slot.bytes, at: place, state)
    }

    /// Writes into a slot that has room.
    private func put(_ bytes: [UInt8], at place: Int, _ state: State) {
        let start = place * Self.slotSize
        bytes.withUnsafeBytes { source in
            guard let from = source.baseAddress else { return }
            if let memory = state.memory, start + source.count <= Self.capacity {
                let slot = UnsafeMutableRawPointer(bitPattern: memory + UInt(start))
                slot?.copyMemory(from: from, byteCount: source.count)
            } else {
                _ = pwrite(file.raw, from, source.count, off_t(start))
            }
        }
    }
}

extension MarkFile.Left {
    fileprivate mutating func add(_ slot: MarkSlot) {
        switch slot.kind {
        case .boot: isOfThisBoot = MarkFile.isPresentBoot(high: slot.first, low: slot.second)
        case .place:
            guard let name = FileName(bytes: slot.name) else { return }
            places.insert(Place(directory: FileID(slot.first), name: name))
        case .file: files.insert(FileID(slot.first))
        case .content: contents.insert(Content(file: FileID(slot.first), generation: slot.second))
        }
    }
}

extension MarkFile {
    fileprivate static func isPresentBoot(high: UInt64, low: UInt64) -> Bool {
        boot == ContentID(high: high, low: low)
    }
}
