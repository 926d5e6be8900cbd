// A loopback mount under /var/tmp for one test, and system calls that throw.

@testable import FUSE
import Glibc
import SystemPackage
import Testing

/// Mounts, runs `body` with the mount's path, unmounts, and waits for the session's end.
func withMount(
    passthrough: Bool, options: [String] = [], ring: Bool = testsUseRing,
    _ body: (_ mount: String, _ backing: String, _ system: Loopback) throws -> Void
) throws {
    var template = Array("/var/tmp/versionsfs-fuse-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw Errno(rawValue: errno) }
    let directory = String(cString: made)
    let backing = directory + "/backing"
    let mount = directory + "/mount"
    try expectSuccess(mkdir(backing, 0o755))
    try expectSuccess(mkdir(mount, 0o755))
    defer {
        umount2(mount, Int32(MNT_DETACH))
        removeTree(directory)
    }
    // The loopback holds a descriptor for each node.
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let system = try Loopback(root: FilePath(backing), usesPassthrough: passthrough)
    let session = try MountedSession(
        fileSystem: system, mountpoint: FilePath(mount), fsname: "loop, back\\",
        options: ["default_permissions", "nosuid"] + options, usesRing: ring)
    let outcome = Monitor<Result<Void, Errno>?>(nil)
    let thread = RunningThread {
        let result = Result { () throws(Errno) in try session.run() }
        outcome.with { $0 = result }
    }
    let result = Result { try body(mount, backing, system) }
    do { try session.unmount(.whenUnused) } catch {
        // EINVAL: the test has taken it away itself.
        if error != .invalidArgument {
            Issue.record("the mount is still in use: \(error)")
            try session.unmount(.aborted)
        }
    }
    try outcome.wait { $0 }.get()
    thread.join()
    try result.get()
}

@discardableResult
func expectSuccess<Number: SignedInteger>(_ result: Number) throws -> Number {
    guard result >= 0 else { throw Errno(rawValue: errno) }
    return result
}

func withFile<Value>(_ path: String, _ flags: Int32, _ body: (Int32) throws -> Value) throws -> Value {
    let file = try expectSuccess(Glibc.open(path, flags | O_CLOEXEC, 0o644))
    defer { close(file) }
    return try body(file)
}

func write(_ bytes: [UInt8], to path: String, flags: Int32 = O_WRONLY | O_CREAT | O_TRUNC) throws {
    try withFile(path, flags) { file in
        var done = 0
        while done < bytes.count {
            done += try expectSuccess(bytes[done...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) })
        }
    }
}

func contents(_ path: String) throws -> [UInt8] {
    try withFile(path, O_RDONLY) { file in
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = try expectSuccess(read(file, &buffer, buffer.count))
            if count == 0 { return all }
            all += buffer[..<count]
        }
    }
}

func names(in directory: String) throws -> [String] {
    guard let stream = opendir(directory) else { throw Errno(rawValue: errno) }
    defer { closedir(stream) }
    var found: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != "." && name != ".." { found.append(name) }
    }
    return found
}

private func removeTree(_ path: String) {
    for name in (try? names(in: path)) ?? [] {
        let inner = path + "/" + name
        if unlink(inner) != 0 { removeTree(inner) }
    }
    rmdir(path)
}

/// A thread that can be joined.
final class RunningThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    private var thread = pthread_t()

    init(_ run: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(run))
        pthread_create(
            &thread, nil,
            { pointer in
                if let pointer { Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run() }
                return nil
            }, body.toOpaque())
    }

    func join() { pthread_join(thread, nil) }
}

/// Names of this process's threads, and what its descriptors are, that a mount could leave behind.
func leftovers() throws -> [String] {
    var found: [String] = []
    for thread in try names(in: "/proc/self/task") {
        let name = (try? contents("/proc/self/task/\(thread)/comm")) ?? []
        if ["fuse-reader", "fuse-ring"].contains(where: { name.starts(with: Array($0.utf8)) }) {
            found.append("thread \(thread)")
        }
    }
    for descriptor in try names(in: "/proc/self/fd") {
        var target = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
        guard count > 0 else { continue }
        let name = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if name == "/dev/fuse" || name.contains("io_uring") || name.contains("versionsfs-fuse-") {
            found.append("descriptor of \(name)")
        }
    }
    return found
}
