// A log in a file of limited size.

import ControlProtocol
import Glibc
import Synchronization

/// Appends lines. A file that has reached its limit is renamed to `NAME.1`, and replaces that; a new one begins.
/// Thread-safe. What cannot be written is given up: a full disk must not stop what is logged about.
public final class LogFile: Sendable {
    /// Bytes of a file.
    public static let standardLimit = 1 << 20

    private struct Output {
        var file: CInt
        var size: Int
    }

    private let directory: CInt
    private let name: String
    private let limit: Int
    /// Guards the file that is written to, and its replacement.
    private let output: Mutex<Output>

    /// Opens the file, and makes its directory if that is missing.
    /// - Returns: nil if it cannot be written, or if it lies where other users may write.
    public init?(_ path: Path, limit: Int = standardLimit) {
        let name = path.lastComponent
        let parent = Path(bytes: path.bytes.dropLast(name.bytes.count + 1))
        guard let directory = OwnDirectory.open(parent, makes: true) else { return nil }
        guard let opened = Self.open(name.description, in: directory) else {
            close(directory)
            return nil
        }
        self.directory = directory
        self.name = name.description
        self.limit = limit
        output = Mutex(opened)
    }

    deinit {
        output.withLock { _ = close($0.file) }
        close(directory)
    }

    /// Appends a line; control characters are written as `\x0a`, so that it stays one.
    public func write(_ line: String) {
        let bytes = Self.printable(line) + [10]
        output.withLock { output in
            if output.size > 0, output.size + bytes.count > limit { rotate(&output) }
            if writeAll(bytes, to: output.file) { output.size += bytes.count }
        }
    }

    private func rotate(_ output: inout Output) {
        guard renameat(directory, name, directory, name + LogPlace.predecessorSuffix) == 0,
            let fresh = Self.open(name, in: directory)
        else { return }
        close(output.file)
        output = fresh
    }

    private static func open(_ name: String, in directory: CInt) -> Output? {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let file = openat(directory, name, flags, 0o600)
        guard file >= 0 else { return nil }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            return nil
        }
        return Output(file: file, size: Int(status.st_size))
    }

    private static func printable(_ line: String) -> [UInt8] {
        line.utf8.flatMap { byte -> [UInt8] in
            guard byte < 32 || byte == 127 else { return [byte] }
            let digits = String(byte, radix: 16)
            return Array(("\\x" + (byte < 16 ? "0" : "") + digits).utf8)
        }
    }
}
