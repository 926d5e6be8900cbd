// The containers that have been mounted on this machine: a list that each mount adds itself to.

import CLinux
import ControlProtocol
import Glibc

/// The file `containers` in a directory of ``StateHome``: one absolute path a line. Control characters and `%` are
/// written as `%0A`; in a path that is not UTF-8 so is each byte that is not ASCII.
public enum KnownContainers {
    private static let name = "containers"
    /// More would be no list of mounts.
    private static let limit = 1 << 20

    /// The paths in a list; none if there is no list, or if another user may write to it.
    public static func read(in directory: Path, owner: uid_t = geteuid()) -> [Path] {
        guard let opened = OwnDirectory.open(directory, owner: owner, makes: false) else { return [] }
        defer { close(opened) }
        return paths(opened)
    }

    /// Adds a path, unless the list has it.
    /// - Returns: whether the list has it now.
    @discardableResult
    public static func add(_ path: Path, in directory: Path) -> Bool {
        guard let opened = OwnDirectory.open(directory, makes: true) else { return false }
        defer { close(opened) }
        return change(opened) { known in known.contains(path) ? known : known + [path] }
    }

    /// Drops paths.
    public static func drop(_ paths: Set<Path>, in directory: Path) {
        guard let opened = OwnDirectory.open(directory, makes: false) else { return }
        defer { close(opened) }
        _ = change(opened) { known in known.filter { !paths.contains($0) } }
    }

    private static func paths(_ directory: CInt) -> [Path] {
        let lines = content(of: name, in: directory, atMost: limit)?.split(separator: 10) ?? []
        return lines.map { unescaped($0) }.filter { $0.bytes.first == 47 && !$0.bytes.contains(0) }
    }

    /// Replaces the list as a whole. The directory's lock keeps the changes of several mounts apart.
    private static func change(_ directory: CInt, _ body: ([Path]) -> [Path]) -> Bool {
        guard linux_flock(directory, LOCK_EX) == 0 else { return false }
        let known = paths(directory)
        let wanted = body(known)
        guard wanted != known else { return true }
        let fresh = name + ".new"
        let file = openat(directory, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let isWritten = writeAll(wanted.flatMap { escaped($0) + [10] }, to: file)
        close(file)
        guard isWritten, renameat(directory, fresh, directory, name) == 0 else {
            unlinkat(directory, fresh, 0)
            return false
        }
        return true
    }

    private static func escaped(_ path: Path) -> [UInt8] {
        let isText = String(validating: path.bytes, as: UTF8.self) != nil
        return path.bytes.flatMap { byte -> [UInt8] in
            guard byte < 32 || byte == 37 || byte == 127 || byte > 127 && !isText else { return [byte] }
            let digits = String(byte, radix: 16, uppercase: true)
            return [37] + Array((byte < 16 ? "0" + digits : digits).utf8)
        }
    }

    private static func unescaped(_ line: ArraySlice<UInt8>) -> Path {
        var result: [UInt8] = []
        var rest = line
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == 37, rest.count > 1, let value = UInt8(digits, radix: 16) {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return Path(bytes: result)
    }
}
