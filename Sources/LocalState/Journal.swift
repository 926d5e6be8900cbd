// Writing to journald in its own protocol: one datagram an entry (https://systemd.io/JOURNAL_NATIVE_PROTOCOL).

import ControlProtocol
import Glibc
import Synchronization

/// The journal of this machine. Thread-safe; never waits: what journald has no room for is counted, and told later.
public final class Journal: Sendable {
    /// The name that entries are found by, as `journalctl -t` takes it.
    public static let identifier = "versionsfs"
    /// The field with the container's directory.
    public static let containerField = "VERSIONSFS_CONTAINER"
    /// Bytes of an entry. Longer ones would have to travel as files.
    static let limit = 1 << 16

    private let socket: CInt
    private let address: sockaddr_un
    /// Entries that have been given up since the last one that was taken.
    private let lost = Atomic(0)

    /// The socket of the journal: `VERSIONSFS_JOURNAL` in the environment (tests), else journald's.
    public static var place: Path { Path(StateHome.variable("VERSIONSFS_JOURNAL") ?? "/run/systemd/journal/socket") }

    /// - Returns: nil if journald does not run: nothing can be connected to its socket.
    public init?(at path: Path = place) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard !path.bytes.isEmpty, path.bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.bytes) }
        guard Self.mayConnect(address) else { return nil }
        // Not connected itself: the socket of a journald that is started anew is the same, a connection is not.
        let socket = Self.make()
        guard socket >= 0 else { return nil }
        self.socket = socket
        self.address = address
    }

    deinit { close(socket) }

    /// Whether what this process writes to a descriptor comes to the journal: systemd says so of what it starts.
    public static func takes(_ descriptor: CInt) -> Bool {
        var status = stat()
        guard let stream = StateHome.variable("JOURNAL_STREAM"), fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Sends an entry.
    /// - Parameters:
    ///   - message: its text.
    ///   - priority: as syslog(3) has it.
    ///   - container: the container's directory.
    public func send(_ message: String, priority: CInt, container: Path) {
        let missed = lost.load(ordering: .relaxed)
        if missed > 0, transmit(entry("\(missed) messages were lost", LOG_WARNING, container)) {
            lost.subtract(missed, ordering: .relaxed)
        }
        if !transmit(entry(message, priority, container)) { lost.add(1, ordering: .relaxed) }
    }

    private func entry(_ message: String, _ priority: CInt, _ container: Path) -> [UInt8] {
        let others: [(String, [UInt8])] = [
            ("PRIORITY", Array("\(priority)".utf8)), ("SYSLOG_IDENTIFIER", Array(Self.identifier.utf8)),
            (Self.containerField, container.bytes),
        ]
        let rest = others.flatMap { Self.field($0.0, $0.1) }
        return Self.field("MESSAGE", Self.cut(Array(message.utf8), to: Self.limit - rest.count - 32)) + rest
    }

    /// `NAME=value`, or where the value has an end of line the name, the value's length in eight bytes and the value.
    static func field(_ name: String, _ value: [UInt8]) -> [UInt8] {
        guard value.contains(10) else { return Array(name.utf8) + [61] + value + [10] }
        let count = withUnsafeBytes(of: UInt64(value.count).littleEndian) { Array($0) }
        return Array(name.utf8) + [10] + count + value + [10]
    }

    /// At most so many bytes, and no part of a character.
    static func cut(_ text: [UInt8], to limit: Int) -> [UInt8] {
        guard text.count > limit else { return text }
        var end = max(0, limit)
        while end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(text[..<end])
    }

    private func transmit(_ entry: [UInt8]) -> Bool {
        var address = address
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                sendto(socket, entry, entry.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL), name, length)
                    == entry.count
            }
        }
    }

    private static func make() -> CInt {
        Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    private static func mayConnect(_ address: sockaddr_un) -> Bool {
        let socket = make()
        guard socket >= 0 else { return false }
        defer { close(socket) }
        var address = address
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
