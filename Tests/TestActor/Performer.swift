// The requests of the line protocol, one case per verb.

import CTestSupport
import Glibc

/// What an actor holds between requests: open files, mappings and children, each under a name that the test gives.
final class Performer {
    var files: [String: Int32] = [:]
    var mappings: [String: UnsafeMutableRawBufferPointer] = [:]
    var children: [String: ChildActor] = [:]
    private(set) var isFinished = false
    private(set) var status: Int32 = 0

    /// Carries out one request. Never throws: every outcome is an answer.
    func answer(_ line: String) -> String {
        var words = Words(line)
        do {
            let verb = try words.text()
            let values =
                try onNames(verb, &words) ?? onHandles(verb, &words) ?? onMappings(verb, &words)
                ?? onProcesses(verb, &words)
            guard let values else { throw CallFailed(EINVAL) }
            return (["ok"] + values).joined(separator: " ")
        } catch let failure as CallFailed {
            return "error \(failure.code)"
        } catch {
            return "error \(EIO)"
        }
    }

    /// Writes an answer; false once nobody reads answers any more.
    func tell(_ answer: [UInt8]) -> Bool {
        var rest = answer[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Calls that take paths.
    private func onNames(_ verb: String, _ words: inout Words) throws -> [String]? {
        let here = AT_FDCWD
        switch verb {
        case "cd": try check(chdir(words.path()))
        case "rename": try check(Glibc.rename(words.path(), words.path()))
        case "rename-new": try check(renameat2(here, words.path(), here, words.path(), VFS_RENAME_NOREPLACE))
        case "exchange": try check(renameat2(here, words.path(), here, words.path(), VFS_RENAME_EXCHANGE))
        case "link": try check(Glibc.link(words.path(), words.path()))
        case "symlink": try check(Glibc.symlink(words.path(), words.path()))
        case "unlink": try check(Glibc.unlink(words.path()))
        case "mkdir": try check(Glibc.mkdir(words.path(), words.mode(default: 0o777)))
        case "rmdir": try check(Glibc.rmdir(words.path()))
        case "truncate": try check(Glibc.truncate(words.path(), words.number()))
        case "chmod":
            let path = try words.path()
            try check(Glibc.chmod(path, words.mode(default: 0o644)))
        case "utimens":
            let path = try words.path()
            let seconds = try words.number()
            let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
            try check(utimensat(here, path, times, 0))
        case "setxattr":
            let path = try words.path()
            let name = try words.path()
            let value = try words.bytes()
            try check(CTestSupport.setxattr(path, name, value, value.count, 0))
        case "removexattr": try check(CTestSupport.removexattr(words.path(), words.path()))
        case "getxattr":
            let path = try words.path()
            let name = try words.path()
            var value = [UInt8](repeating: 0, count: 65_536)
            let count = CTestSupport.getxattr(path, name, &value, value.count)
            guard count >= 0 else { throw CallFailed() }
            return [encoded(value[..<count])]
        case "stat":
            var facts = stat()
            try check(lstat(words.path(), &facts))
            return describe(facts)
        case "load":
            // Opens for reading, reads to the end, closes: how a program takes a document into its buffer.
            let descriptor = open(try words.path(), O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw CallFailed() }
            defer { close(descriptor) }
            return [encoded(try readToEnd(descriptor))]
        default: return nil
        }
        return []
    }

    /// Calls on open files: the first word is the name that `open` was given.
    private func onHandles(_ verb: String, _ words: inout Words) throws -> [String]? {
        switch verb {
        case "open":
            let name = try words.text()
            let path = try words.path()
            let flags = try words.text().split(separator: "+").reduce(O_CLOEXEC) { try $0 | flag($1) }
            let descriptor = Glibc.open(path, flags, try words.mode(default: 0o644))
            guard descriptor >= 0 else { throw CallFailed() }
            if let old = files[name] { Glibc.close(old) }
            files[name] = descriptor
        case "close":
            let name = try words.text()
            guard let descriptor = files.removeValue(forKey: name) else { throw CallFailed(EBADF) }
            try check(Glibc.close(descriptor))
        case "dup":
            let descriptor = Glibc.fcntl(try file(&words), F_DUPFD_CLOEXEC, 3)
            guard descriptor >= 0 else { throw CallFailed() }
            files[try words.text()] = descriptor
        case "read":
            let descriptor = try file(&words)
            let count = max(0, try words.number())
            var buffer = [UInt8](repeating: 0, count: count)
            let got =
                words.isEmpty
                ? Glibc.read(descriptor, &buffer, count) : pread(descriptor, &buffer, count, try words.number())
            guard got >= 0 else { throw CallFailed() }
            return [encoded(buffer[..<got])]
        case "write":
            let descriptor = try file(&words)
            let bytes = try words.bytes()
            return [String(try put(bytes, descriptor, at: words.isEmpty ? nil : words.number()))]
        case "fill":
            let descriptor = try file(&words)
            let byte = UInt8(truncatingIfNeeded: try words.number())
            let bytes = [UInt8](repeating: byte, count: max(0, try words.number()))
            return [String(try put(bytes, descriptor, at: words.isEmpty ? nil : words.number()))]
        case "ftruncate": try check(Glibc.ftruncate(file(&words), words.number()))
        case "allocate": try check(fallocate(file(&words), 0, 0, words.number()))
        case "fsync": try check(Glibc.fsync(file(&words)))
        case "fdatasync": try check(Glibc.fdatasync(file(&words)))
        case "fchmod":
            let descriptor = try file(&words)
            try check(Glibc.fchmod(descriptor, words.mode(default: 0o644)))
        case "fchown": try check(Glibc.fchown(file(&words), uid_t(words.number()), gid_t(words.number())))
        case "fsetxattr":
            let descriptor = try file(&words)
            let name = try words.path()
            let value = try words.bytes()
            try check(CTestSupport.fsetxattr(descriptor, name, value, value.count, 0))
        case "flock":
            let kinds = ["shared": LOCK_SH, "exclusive": LOCK_EX, "none": LOCK_UN]
            let descriptor = try file(&words)
            guard let kind = kinds[try words.text()] else { throw CallFailed(EINVAL) }
            try check(vfs_flock(descriptor, kind | LOCK_NB))
        case "copy-range":
            let from = try file(&words)
            let to = try file(&words)
            let count = copy_file_range(from, nil, to, nil, try words.number(), 0)
            guard count >= 0 else { throw CallFailed() }
            return [String(count)]
        case "clone": try check(ioctl(file(&words), UInt(VFS_FICLONE), file(&words)))
        case "patterns":
            // Replaces a file again and again by a content that tells writer and round: `patterns PATH WRITER ROUNDS
            // LENGTH`.
            let path = try words.path()
            let writer = try words.number()
            let rounds = try words.number()
            let length = try words.number()
            for round in 0..<max(0, rounds) { try savePattern(path, writer: writer, round: round, length: length) }
        case "fstat":
            var facts = stat()
            try check(Glibc.fstat(file(&words), &facts))
            return describe(facts)
        default: return nil
        }
        return []
    }

    /// Shared mappings: `map NAME FILE LENGTH`, `store NAME OFFSET BYTES`, `fetch NAME OFFSET COUNT`, `msync`, `unmap`.
    private func onMappings(_ verb: String, _ words: inout Words) throws -> [String]? {
        switch verb {
        case "map":
            let name = try words.text()
            let descriptor = try file(&words)
            let length = try words.number()
            guard let start = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), start != MAP_FAILED
            else { throw CallFailed() }
            mappings[name] = UnsafeMutableRawBufferPointer(start: start, count: length)
        case "store":
            let mapping = try mapping(&words)
            let offset = try words.number()
            let bytes = try words.bytes()
            guard offset >= 0, offset + bytes.count <= mapping.count else { throw CallFailed(EINVAL) }
            for (index, byte) in bytes.enumerated() { mapping[offset + index] = byte }
        case "fetch":
            let mapping = try mapping(&words)
            let offset = try words.number()
            let count = try words.number()
            guard offset >= 0, count >= 0, offset + count <= mapping.count else { throw CallFailed(EINVAL) }
            return [encoded(mapping[offset..<(offset + count)])]
        case "msync":
            let mapping = try mapping(&words)
            try check(Glibc.msync(mapping.baseAddress, mapping.count, Int32(MS_SYNC)))
        case "unmap":
            guard let mapping = mappings.removeValue(forKey: try words.text()) else { throw CallFailed(EINVAL) }
            try check(munmap(mapping.baseAddress, mapping.count))
        default: return nil
        }
        return []
    }

    /// `pid`, `setsid`, `spawn NAME [PROGRAM]`, `to NAME REQUEST`, `run PROGRAM ARGUMENT...`, `exit [STATUS]`.
    private func onProcesses(_ verb: String, _ words: inout Words) throws -> [String]? {
        switch verb {
        case "pid": return [String(getpid())]
        case "setsid": try check(Glibc.setsid() < 0 ? -1 : 0)
        case "spawn":
            let name = try words.text()
            let program = words.isEmpty ? "/proc/self/exe" : try words.text()
            let child = try ChildActor(program)
            children[name]?.end()
            children[name] = child
            return [String(child.pid)]
        case "to":
            guard let child = children[try words.text()] else { throw CallFailed(ESRCH) }
            let answer = try child.ask(words.remainder)
            guard answer.hasPrefix("ok") else {
                throw CallFailed(Int32(answer.split(separator: " ").last ?? "") ?? EIO)
            }
            return answer.split(separator: " ").dropFirst().map(String.init)
        case "run":
            let program = try words.text()
            var arguments: [String] = []
            while !words.isEmpty { arguments.append(try words.text()) }
            return [String(try runToEnd(program, arguments))]
        case "end":
            guard let child = children.removeValue(forKey: try words.text()) else { throw CallFailed(ESRCH) }
            child.end()
        case "exit":
            status = Int32(truncatingIfNeeded: try words.number(default: 0))
            isFinished = true
        default: return nil
        }
        return []
    }

    /// Ends all children that still run.
    func endChildren() {
        children.values.forEach { $0.end() }
        children = [:]
    }

    private func file(_ words: inout Words) throws -> Int32 {
        guard let descriptor = files[try words.text()] else { throw CallFailed(EBADF) }
        return descriptor
    }

    private func mapping(_ words: inout Words) throws -> UnsafeMutableRawBufferPointer {
        guard let mapping = mappings[try words.text()] else { throw CallFailed(EINVAL) }
        return mapping
    }
}

/// Turns the convention of system calls into an error.
private func check(_ result: Int32) throws {
    if result != 0 { throw CallFailed() }
}

private func flag(_ word: Substring) throws -> Int32 {
    let flags: [Substring: Int32] = [
        "r": O_RDONLY, "w": O_WRONLY, "rw": O_RDWR, "creat": O_CREAT, "excl": O_EXCL, "trunc": O_TRUNC,
        "append": O_APPEND, "sync": O_SYNC, "dsync": O_DSYNC, "nofollow": O_NOFOLLOW, "direct": VFS_O_DIRECT,
        "tmpfile": VFS_O_TMPFILE, "directory": O_DIRECTORY,
    ]
    guard let flag = flags[word] else { throw CallFailed(EINVAL) }
    return flag
}

private func readToEnd(_ descriptor: Int32) throws -> [UInt8] {
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count >= 0 else { throw CallFailed() }
        if count == 0 { return result }
        result += buffer[..<count]
    }
}

private func put(_ bytes: [UInt8], _ descriptor: Int32, at offset: Int?) throws -> Int {
    let count = offset.map { pwrite(descriptor, bytes, bytes.count, $0) } ?? Glibc.write(descriptor, bytes, bytes.count)
    guard count >= 0 else { throw CallFailed() }
    return count
}

/// One save in place of `WWWWRRRR` (writer and round in hex), repeated.
private func savePattern(_ path: [CChar], writer: Int, round: Int, length: Int) throws {
    let word = UInt32(truncatingIfNeeded: writer << 16 | round)
    let digits = String(word, radix: 16)
    let unit = Array((String(repeating: "0", count: 8 - digits.utf8.count) + digits).utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length + 8)
    while bytes.count < length { bytes += unit }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw CallFailed() }
    var rest = bytes[..<max(0, length)]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { throw CallFailed() }
        rest = rest.dropFirst(count)
    }
    try check(close(descriptor))
}

/// inode, size, mode (octal), links, seconds of the last change of content.
private func describe(_ facts: stat) -> [String] {
    [
        String(facts.st_ino), String(facts.st_size), String(facts.st_mode, radix: 8), String(facts.st_nlink),
        String(facts.st_mtim.tv_sec),
    ]
}
