// Reading, copying and rewriting files by the bytes of their paths.

import ControlProtocol
import Glibc
import VersionsClient

/// Plain files.
enum Files {
    /// Copies a file's bytes to an open descriptor.
    /// - Parameter size: copies no more than this.
    static func copy(_ source: Path, to output: CInt, upTo size: UInt64 = .max) throws(ControlError) {
        let input = source.withCString { open($0, O_RDONLY | O_CLOEXEC) }
        guard input >= 0 else { throw ControlError(system: "cannot be read", path: source) }
        defer { close(input) }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        var left = size
        while left > 0 {
            let count = Glibc.read(input, &buffer, Int(min(left, UInt64(buffer.count))))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ControlError(system: "cannot be read", path: source) }
            if count == 0 { return }
            try write(buffer[..<count], to: output, path: nil)
            left -= UInt64(count)
        }
    }

    /// A file's bytes.
    static func content(_ source: Path) throws(ControlError) -> [UInt8] {
        let input = source.withCString { open($0, O_RDONLY | O_CLOEXEC) }
        guard input >= 0 else { throw ControlError(system: "cannot be read", path: source) }
        defer { close(input) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ControlError(system: "cannot be read", path: source) }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer.prefix(count))
        }
    }

    /// Copies a file to a new name.
    /// - Parameter size: copies no more than this.
    static func copy(_ source: Path, toNew target: Path, upTo size: UInt64 = .max) throws(ControlError) {
        let output = target.withCString { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
        guard output >= 0 else { throw ControlError(system: "cannot be made", path: target) }
        defer { close(output) }
        try copy(source, to: output, upTo: size)
    }

    /// Writes a file, whether there is one of this name or not.
    static func replace(_ target: Path, with bytes: [UInt8]) throws(ControlError) {
        let output = target.withCString { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
        guard output >= 0 else { throw ControlError(system: "cannot be written", path: target) }
        defer { close(output) }
        try write(bytes, to: output, path: target)
    }

    /// Puts another content into a file, in place: one open, one save.
    static func overwrite(_ target: Path, with source: Path) throws(ControlError) {
        let output = target.withCString { open($0, O_WRONLY | O_CLOEXEC) }
        guard output >= 0 else { throw ControlError(system: "cannot be written", path: target) }
        defer { close(output) }
        try copy(source, to: output)
        let length = lseek(output, 0, SEEK_CUR)
        guard length >= 0, ftruncate(output, length) == 0, fsync(output) == 0 else {
            throw ControlError(system: "cannot be written", path: target)
        }
    }

    static func write(_ bytes: some Collection<UInt8>, to output: CInt, path: Path?) throws(ControlError) {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { raw in
                Glibc.write(output, raw.baseAddress?.advanced(by: sent), raw.count - sent)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                var error = ControlError(system: "cannot be written", path: path ?? Path("standard output"))
                // It may be anywhere: the container's history is not what fills that disk.
                if path == nil { error.advice = "see where the output goes, and whether there is room" }
                throw error
            }
            sent += count
        }
    }

    /// Whether the path names something, also a link to nothing.
    static func exists(_ path: Path) -> Bool {
        var status = stat()
        return path.withCString { lstat($0, &status) } == 0
    }

    /// The names in a directory; none if it cannot be read.
    static func names(in directory: Path) -> [Path] {
        guard let stream = directory.withCString({ opendir($0) }) else { return [] }
        defer { closedir(stream) }
        var names: [Path] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { start in
                    Path(bytes: UnsafeRawBufferPointer(start: start, count: strlen(start)))
                }
            }
            if name != Path("."), name != Path("..") { names.append(name) }
        }
        return names.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// When it was changed, in whole seconds; nil if it is not there.
    static func modified(_ path: Path) -> Int? {
        var status = stat()
        return path.withCString { stat($0, &status) } == 0 ? status.st_mtim.tv_sec : nil
    }

    /// How long it is; nil if it is not there.
    static func size(_ path: Path) -> UInt64? {
        var status = stat()
        return path.withCString { stat($0, &status) } == 0 ? UInt64(max(0, status.st_size)) : nil
    }

    /// Whether the path is a directory.
    static func isDirectory(_ path: Path) -> Bool {
        var status = stat()
        return path.withCString { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The directory for temporary files, and a name in it as mkstemp(3) and mkdtemp(3) take it.
    private static func temporaryName() -> (parent: String, template: [CChar]) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        return (parent, Array((parent + "/versionsctl-XXXXXX").utf8CString))
    }

    /// Runs `body` with a fresh file, which is removed behind it.
    static func withTemporary<Result>(_ body: ((path: Path, descriptor: CInt)) throws -> Result) throws -> Result {
        let place = temporaryName()
        var template = place.template
        let descriptor = mkstemp(&template)
        guard descriptor >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            throw ControlError(system: "no temporary file can be made", path: Path(place.parent))
        }
        let path = Path(bytes: template.dropLast().map { UInt8(bitPattern: $0) })
        defer {
            close(descriptor)
            path.withCString { _ = unlink($0) }
        }
        return try body((path, descriptor))
    }

    /// Puts a text into a fresh file beside the temporary ones, which stays.
    static func keep(_ text: [UInt8]) throws -> Path {
        let place = temporaryName()
        var template = place.template
        // Its mode is 0600.
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw ControlError(system: "no file can be made", path: Path(place.parent)) }
        defer { close(descriptor) }
        let path = Path(bytes: template.dropLast().map { UInt8(bitPattern: $0) })
        do throws(ControlError) {
            try write(text, to: descriptor, path: path)
        } catch {
            path.withCString { _ = unlink($0) }
            throw error
        }
        return path
    }

    /// Runs `body` with a fresh directory that is removed with the files in it.
    static func withTemporaryDirectory<Result>(
        _ body: (Path) async throws -> Result
    ) async throws -> Result {
        let place = temporaryName()
        var template = place.template
        guard mkdtemp(&template) != nil else {
            throw ControlError(system: "no temporary directory can be made", path: Path(place.parent))
        }
        let directory = Path(bytes: template.dropLast().map { UInt8(bitPattern: $0) })
        defer {
            if let stream = directory.withCString({ opendir($0) }) {
                while let entry = readdir(stream) { unlinkat(dirfd(stream), &entry.pointee.d_name.0, 0) }
                closedir(stream)
            }
            directory.withCString { _ = rmdir($0) }
        }
        return try await body(directory)
    }
}
