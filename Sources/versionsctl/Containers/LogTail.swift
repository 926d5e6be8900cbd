// The lines of a log in a file, with those of its predecessor, and what comes behind them.

import ControlProtocol
import Glibc
import LocalState
import VersionsClient

/// Reads a log that ``LogFile`` writes.
final class LogTail {
    private let path: Path
    private var file: CInt
    /// What came behind the last end of line.
    private var rest: [UInt8] = []

    init(_ path: Path) throws(ControlError) {
        self.path = path
        file = Self.open(path)
        guard file >= 0 else { throw ControlError(system: "cannot be read", path: path) }
    }

    deinit { close(file) }

    /// The lines that are there, oldest first.
    /// - Parameter limit: at most so many, the last.
    func lines(atMost limit: Int?) throws(ControlError) -> [String] {
        // The name may have been given to something else: to a pipe, which has no end.
        let older = try? LogTail(Path(bytes: path.bytes + Array(LogPlace.predecessorSuffix.utf8))).more()
        let lines = (older ?? []) + (try more())
        return limit.map { Array(lines.suffix($0)) } ?? lines
    }

    /// Waits for lines, and hands each on as it is written; ends only by an error.
    func follow(_ body: (String) throws -> Void) throws {
        let events = inotify_init1(CInt(IN_CLOEXEC))
        guard events >= 0 else { throw ControlError(system: "cannot be watched", path: path) }
        defer { close(events) }
        let directory = Path(bytes: path.bytes.dropLast(path.lastComponent.bytes.count))
        // The directory: the file is replaced when it has grown too long.
        let mask = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)
        guard directory.withCString({ inotify_add_watch(events, $0, mask) }) >= 0 else {
            throw ControlError(system: "cannot be watched", path: directory)
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            for line in try more() { try body(line) }
            if try isReplaced() {
                // A line may have come between the last look and the replacement.
                for line in try more() { try body(line) }
                reopen()
                continue
            }
            let count = read(events, &buffer, buffer.count)
            guard count > 0 || errno == EINTR else { throw ControlError(system: "cannot be watched", path: path) }
        }
    }

    /// The whole lines that have come since the last call.
    private func more() throws(ControlError) -> [String] {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ControlError(system: "cannot be read", path: path) }
            guard count > 0 else { break }
            rest += buffer[..<count]
        }
        guard let end = rest.lastIndex(of: 10) else { return [] }
        defer { rest.removeFirst(end + 1) }
        return Self.split(rest[..<end])
    }

    /// Whether another file has the name now.
    private func isReplaced() throws(ControlError) -> Bool {
        var (own, present) = (stat(), stat())
        guard fstat(file, &own) == 0 else { throw ControlError(system: "cannot be read", path: path) }
        guard path.withCString({ lstat($0, &present) }) == 0 else { return false }
        return own.st_ino != present.st_ino || own.st_dev != present.st_dev
    }

    private func reopen() {
        let fresh = Self.open(path)
        guard fresh >= 0 else { return }
        close(file)
        file = fresh
        rest = []
    }

    /// - Returns: -1 with an `errno` if there is no plain file of that name.
    private static func open(_ path: Path) -> CInt {
        let file = path.withCString { Glibc.open($0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        guard file >= 0 else { return -1 }
        var status = stat()
        if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return file }
        close(file)
        errno = EINVAL
        return -1
    }

    private static func split(_ bytes: some Collection<UInt8>) -> [String] {
        Array(bytes).split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
    }
}
