// The secret behind a purpose's name, which only this user's programs can compute.

import Crypto
import Foundation
import Glibc
import VersionModel

/// Makes the 128-bit tokens by which daemons know purposes (docs/decisions/0016).
enum PurposeToken {
    /// A new token of 32 hex digits.
    static func random() -> String { hex(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }) }

    /// The token of a name: the same in all programs of this user, and a secret for other users. A name in the form of
    /// a token is the token.
    static func of(_ name: String) -> String {
        if ItemID(hex: name) != nil { return name.lowercased() }
        let code = HMAC<SHA256>.authenticationCode(for: Data(name.utf8), using: key)
        return hex(Array(code).prefix(16))
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    // MARK: The user's key

    /// The key of this user; a key of this process if no directory can keep it.
    private static let key = kept() ?? SymmetricKey(size: .bits256)

    /// `$XDG_STATE_HOME/versionsfs/purposes`, made by the first program that needs it.
    private static func kept() -> SymmetricKey? {
        guard let directory = directory() else { return nil }
        let path = directory + "/purposes"
        if let key = read(path) { return key }
        let temporary = directory + "/purposes.\(random())"
        defer { unlink(temporary) }
        guard makeKey(at: temporary) else { return nil }
        // The first program makes the key; the other programs take it.
        if link(temporary, path) == 0 {
            sync(directory)
        } else if errno != EEXIST {
            return nil
        }
        if let key = read(path) { return key }
        replace(path, by: temporary)
        sync(directory)
        return read(path)
    }

    /// Writes a new key to the disk before it gets its name, so that it survives a power cut.
    private static func makeKey(at path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let count = SymmetricKey(size: .bits256).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        return count == 32 && fsync(descriptor) == 0
    }

    /// Replaces a file that is not a key, as a power cut may leave one. No program can have used it, and one program
    /// writes a new key.
    private static func replace(_ path: String, by new: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var (held, named) = (stat(), stat())
        guard fstat(descriptor, &held) == 0, held.st_mode & S_IFMT == S_IFREG, held.st_uid == geteuid(),
            flock(descriptor, LOCK_EX) == 0, lstat(path, &named) == 0
        else { return }
        // The previous holder of the lock may have replaced it already.
        if (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino) { rename(new, path) }
    }

    private static func sync(_ directory: String) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func read(_ path: String) -> SymmetricKey? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        var bytes = [UInt8](repeating: 0, count: 33)
        // A file that other users can read or write is no secret.
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 == 0,
            Glibc.read(descriptor, &bytes, bytes.count) == 32
        else { return nil }
        return SymmetricKey(data: bytes.prefix(32))
    }

    private static func directory() -> String? {
        let environment = ProcessInfo.processInfo.environment
        let base =
            if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
                state
            } else if let home = environment["HOME"], home.hasPrefix("/") {
                home + "/.local/state"
            } else {
                ""
            }
        guard !base.isEmpty else { return nil }
        let directory = base + "/versionsfs"
        try? FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return directory
    }
}
