// Programs that still write files of the container below the mount: they had them open or mapped when the last daemon
// was killed. The kernel passes their writes straight to the file, without a report (DESIGN 9).

import CLinux
import Glibc
import Synchronization
import VersionModel

/// The files that may change unseen, found once after a disorderly end. Lock order: last.
final class Survivors: Sendable {
    private struct State {
        /// By the mount's number: an open descriptor shows it without a request to the dead mount.
        var files: Set<UInt64> = []
        /// By the file below, which older kernels name for a mapping instead of the mount's.
        var mapped: Set<BackingKey> = []
        /// Told of a file that may be one of them, when it is looked up.
        var lookedUp: (@Sendable (Node) -> Void)?

        func mayInclude(_ file: FileID, _ key: BackingKey) -> Bool {
            if files.isEmpty, mapped.isEmpty { return false }
            return files.contains(file.number) || mapped.contains(key)
        }
    }

    private let state = RankedMutex(State())

    /// Whether a file may be one of them; only a read lease is certain.
    func mayInclude(_ file: FileID, _ key: BackingKey) -> Bool {
        state.withLock { $0.mayInclude(file, key) }
    }

    /// Says who is told of a file that may be one of them, when it is looked up. The names are held then.
    func whenLookedUp(_ action: @escaping @Sendable (Node) -> Void) { state.withLock { $0.lookedUp = action } }

    /// The kernel has looked a file up.
    func lookedUp(_ node: Node, _ nodes: NodeTable) {
        guard node.isRegular, !node.isForeign else { return }
        let key = nodes.key(of: node)
        state.withLock { $0.mayInclude(node.file, key) ? $0.lookedUp : nil }?(node)
    }

    /// The mount's numbers.
    var candidates: Set<FileID> { state.withLock { Set($0.files.map { FileID($0) }) } }

    /// - Returns: whether it was one.
    @discardableResult
    func remove(_ file: FileID, _ key: BackingKey) -> Bool {
        state.withLock { state in
            let wasOpen = state.files.remove(file.number) != nil
            return state.mapped.remove(key) != nil || wasOpen
        }
    }

    /// Reads all processes' writable descriptors and shared mappings that this user may see. Numbers of other file
    /// systems are harmless: the lease decides.
    func find() {
        var found = State()
        let own = "\(getpid())"
        for process in Self.names("/proc") where process.first?.isNumber == true && process != own {
            for number in Self.names("/proc/\(process)/fdinfo") {
                if let file = Self.writable(Self.text("/proc/\(process)/fdinfo/\(number)")) { found.files.insert(file) }
            }
            // Its mappings are gone, and a read of its maps would wait until it has closed its files, which this daemon
            // may serve.
            if let id = Int32(process), ProcessFacts.isBecomingAnother(id, reader: SystemProcReader()) { continue }
            for line in Self.text("/proc/\(process)/maps").split(separator: "\n") {
                guard let key = Self.mapping(line) else { continue }
                found.mapped.insert(key)
                if Self.isOurs(key.inode) { found.files.insert(key.inode) }
            }
        }
        let result = found
        state.withLock { ($0.files, $0.mapped) = (result.files, result.mapped) }
    }

    /// The inode number of a file that is open for writing. The mount's numbers are hashes; small ones belong to other
    /// file systems.
    private static func writable(_ info: String) -> UInt64? {
        var (flags, inode): (Int32, UInt64) = (0, 0)
        for line in info.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
            guard words.count == 2 else { continue }
            if words[0] == "flags:" { flags = Int32(words[1], radix: 8) ?? 0 }
            if words[0] == "ino:" { inode = UInt64(words[1]) ?? 0 }
        }
        return flags & O_ACCMODE != O_RDONLY && isOurs(inode) ? inode : nil
    }

    private static func isOurs(_ inode: UInt64) -> Bool { inode >> 32 != 0 }

    /// `7f…-7f… rw-s 00000000 fe:00 1234   /path`: a shared mapping that may be written to.
    private static func mapping(_ line: Substring) -> BackingKey? {
        let words = line.split(separator: " ", maxSplits: 5)
        guard words.count >= 5, words[1].hasSuffix("s"), words[1].contains("w"), let inode = UInt64(words[4]),
            inode != 0
        else { return nil }
        let device = words[3].split(separator: ":").compactMap { UInt32($0, radix: 16) }
        guard device.count == 2 else { return nil }
        return BackingKey(device: linux_makedev(device[0], device[1]), inode: inode)
    }

    private static func names(_ path: String) -> [String] {
        guard let file = try? Backing.open(path: path, in: AT_FDCWD, flags: O_RDONLY | O_DIRECTORY) else { return [] }
        defer { close(file) }
        return ((try? Backing.list(file)) ?? []).map { String(decoding: $0.name.bytes, as: UTF8.self) }
    }

    private static func text(_ path: String) -> String {
        guard let file = try? Backing.open(path: path, in: AT_FDCWD, flags: O_RDONLY) else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
