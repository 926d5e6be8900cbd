// Makes a path absolute and free of links, even if its end does not exist.

import CLinux
import ControlProtocol
import Glibc

/// A path, resolved as far as it exists.
public struct ResolvedPath: Sendable {
    /// Absolute, without links and dots.
    public var full: Path
    /// The part of it that exists.
    public var existing: Path

    /// Resolves a path.
    /// - Throws: `system` if the path cannot be resolved for another reason than a missing end.
    public init(_ typed: Path, followingLastLink: Bool) throws(ControlError) {
        let absolute = try absolutePathOrError(typed)
        var head = absolute
        var tail: [[UInt8]] = []
        if !followingLastLink, let parent = absolute.parent, absolute.lastComponent.isOrdinaryName {
            tail = [absolute.lastComponent.bytes]
            head = parent
        }
        while true {
            if let real = head.withCString({ realPath($0) }) {
                existing = real
                break
            }
            guard errno == ENOENT || errno == ENOTDIR, let parent = head.parent else {
                throw ControlError(system: "cannot be followed", path: typed)
            }
            guard head.lastComponent.isOrdinaryName else {
                throw ControlError(.notFound, "no such file or directory", path: typed)
            }
            tail.insert(head.lastComponent.bytes, at: 0)
            head = parent
        }
        full = tail.reduce(existing) { $0.appending($1) }
        if tail.count == 1, !followingLastLink {
            var status = stat()
            if full.withCString({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT != S_IFLNK { existing = full }
        }
    }
}

/// The path below the current directory, without resolution.
public func absolutePath(_ typed: Path) -> Path {
    if typed.bytes.first == 47 { return typed }
    guard let directory = currentDirectory() else { return typed }
    return typed.bytes.isEmpty ? directory : directory.appending(typed.bytes)
}

private func absolutePathOrError(_ typed: Path) throws(ControlError) -> Path {
    if typed.bytes.first == 47 { return typed }
    guard currentDirectory() != nil else {
        throw ControlError(system: "the current directory is gone", path: typed, advice: "cd somewhere else")
    }
    return absolutePath(typed)
}

private func currentDirectory() -> Path? {
    guard let pointer = getcwd(nil, 0) else { return nil }
    defer { free(pointer) }
    return Path(bytes: UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
}

private func realPath(_ path: UnsafePointer<CChar>) -> Path? {
    guard let pointer = realpath(path, nil) else { return nil }
    defer { free(pointer) }
    return Path(bytes: UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
}

/// The target of a symbolic link; nil for other files.
func readLink(_ path: Path) -> Path? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = path.withCString { name in
        buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { $0.baseAddress.map { readlink(name, $0, bytes.count) } ?? -1 }
        }
    }
    return count > 0 ? Path(bytes: buffer.prefix(count)) : nil
}

extension FileAttribute {
    /// The attribute's value as a path; nil if the file has none.
    func value(of path: Path) -> Path? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = path.withCString { name in
            buffer.withUnsafeMutableBytes { getxattr(name, rawValue, $0.baseAddress, $0.count) }
        }
        return count > 0 ? Path(bytes: buffer.prefix(count)) : nil
    }
}

extension Path {
    /// The parent directory by text; nil for the root.
    var parent: Path? {
        var rest = bytes[...]
        while rest.last == 47 { rest = rest.dropLast() }
        guard !rest.isEmpty, let slash = rest.lastIndex(of: 47) else { return nil }
        rest = rest[..<slash]
        while rest.last == 47 { rest = rest.dropLast() }
        return Path(bytes: rest.isEmpty ? [47] : rest)
    }

    /// Not empty, `.` or `..`.
    var isOrdinaryName: Bool { !bytes.isEmpty && bytes != [46] && bytes != [46, 46] }

    func appending(_ name: [UInt8]) -> Path { Path(bytes: bytes + (bytes.last == 47 ? [] : [47]) + name) }

    func appending(_ name: String) -> Path { appending(Array(name.utf8)) }

    /// The part of the path below a directory.
    func relative(to directory: Path) -> Path {
        Path(bytes: bytes.dropFirst(directory.bytes.count).drop { $0 == 47 })
    }

    /// Calls a function of C with the path.
    public func withCString<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        try (bytes + [0]).withUnsafeBytes { raw in
            try raw.withMemoryRebound(to: CChar.self) { buffer in
                // The buffer holds at least the NUL.
                try body(buffer.baseAddress.unsafelyUnwrapped)
            }
        }
    }
}
