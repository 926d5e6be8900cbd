// Opening a directory that only its owner may write to, and making it where it is missing.

import ControlProtocol
import Glibc

enum OwnDirectory {
    /// Opens a directory.
    /// - Parameter makes: whether it is made, with those above it.
    /// - Returns: a descriptor; nil if there is none, or if another user could have laid it there or may write to it.
    ///   The same holds for one of VersionsFS that it is in, as in /tmp any user can make that.
    static func open(_ path: Path, owner: uid_t = geteuid(), makes: Bool) -> CInt? {
        let name = path.lastComponent
        let parent = Path(bytes: path.bytes.dropLast(name.bytes.count + 1))
        if isOurs(parent.lastComponent) {
            guard let above = open(parent, owner: owner, makes: makes) else { return nil }
            defer { close(above) }
            if makes { mkdirat(above, name.terminated, 0o700) }
            return checked(openat(above, name.terminated, flags), owner)
        }
        if makes { make(path) }
        return checked(Glibc.open(path.terminated, flags), owner)
    }

    private static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

    /// `versionsfs`, or `versionsfs-1000`.
    private static func isOurs(_ name: Path) -> Bool {
        let own = Array("versionsfs".utf8)
        return name.bytes == own || name.bytes.starts(with: own + [45])
    }

    private static func checked(_ directory: CInt, _ owner: uid_t) -> CInt? {
        guard directory >= 0 else { return nil }
        var status = stat()
        guard fstat(directory, &status) == 0, status.st_uid == owner, status.st_mode & 0o022 == 0 else {
            close(directory)
            return nil
        }
        return directory
    }

    private static func make(_ path: Path) {
        guard mkdir(path.terminated, 0o700) != 0, errno == ENOENT,
            let slash = path.bytes.lastIndex(of: 47), slash > 0
        else { return }
        make(Path(bytes: path.bytes[..<slash]))
        mkdir(path.terminated, 0o700)
    }
}

/// The bytes of a file in an open directory, at most so many; nil if there is no plain file of that name.
func content(of name: String, in directory: CInt, atMost limit: Int) -> [UInt8]? {
    let file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < limit {
        let count = read(file, &buffer, min(buffer.count, limit - bytes.count))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return count == 0 ? bytes : nil }
        bytes += buffer[..<count]
    }
    return bytes
}

/// Writes all bytes to a descriptor.
/// - Returns: whether all of them could be written.
func writeAll(_ bytes: [UInt8], to file: CInt) -> Bool {
    var sent = 0
    while sent < bytes.count {
        let count = bytes.withUnsafeBytes { write(file, $0.baseAddress?.advanced(by: sent), $0.count - sent) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        sent += count
    }
    return true
}
