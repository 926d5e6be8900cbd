// Where tests put their files and where they find the programs under test.

import Foundation
import Synchronization

/// The places that all tests of a run share.
public enum Workplace {
    /// A directory outside /tmp for everything that tests make: vim does not back up below /tmp, and tmpfs is not ext4.
    /// Tests/run names one in VERSIONSFS_TEST_ROOT, and looks there for leftovers afterwards.
    public static let root: String = {
        if let given = environmentNow()["VERSIONSFS_TEST_ROOT"] { return given }
        let path = "/var/tmp/versionsfs-tests-\(getuid())"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }()

    /// Where a daemon reports locks that it has taken out of their order, before it ends (docs/locks.md). Tests/run
    /// looks there after each target.
    public static let lockReports: String = {
        let path = root + "/lock-reports"
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        // Daemons of other users write there, too.
        fchmod(file, 0o666)
        close(file)
        return path
    }()

    /// Whether the random and crash tests run at their full numbers.
    public static let isFull = environmentNow()["VERSIONSFS_FULL"] == "1"

    /// Whether the engine serves the mounts.
    public static let servesByEngine = environmentNow()["VERSIONSFS_ENGINE"] == "1"

    /// Whether mounts may use io_uring: the same tests hold with it and, where VERSIONSFS_TEST_RING says `no`, without.
    public static let usesRing = environmentNow()["VERSIONSFS_TEST_RING"] != "no"

    /// How much of a container tests get: all of it, unless VERSIONSFS_UNVERSIONED says `1` (plain directories, to try
    /// the harness
    /// itself without a daemon) or `mounted` (the daemon's file system, without asking it about versions).
    public static let level: ContainerLevel =
        switch environmentNow()["VERSIONSFS_UNVERSIONED"] {
        case "1": .plain
        case "mounted": .mounted
        default: .versioned
        }

    /// A full number, or a tenth of it (at least one) without --full.
    public static func count(_ full: Int) -> Int { isFull ? full : max(1, full / 10) }

    /// The directory that the running tests were built into.
    public static let products: String = {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "."
        return (program as NSString).deletingLastPathComponent
    }()

    /// The daemon: VERSIONSFS_BIN, else the one beside the tests.
    public static var daemon: String { environmentNow()["VERSIONSFS_BIN"] ?? products + "/versionsfs" }

    /// The daemon beside the tests, which checks its locks and can let the engine serve.
    static var checkingDaemon: String { products + "/versionsfs" }

    /// The command line beside that, for containers of the engine's that are not mounted.
    static var checkingControl: String { products + "/versionsctl" }

    /// The command line: beside the daemon.
    public static var control: String { (daemon as NSString).deletingLastPathComponent + "/versionsctl" }

    /// The test actor under a name of its own, so that /proc/PID/exe and /proc/PID/comm show that program.
    public static func actor(named name: String) throws -> String {
        let original = products + "/TestActor"
        guard FileManager.default.isExecutableFile(atPath: original) else {
            throw Failure("\(original) is missing: swift build --product TestActor")
        }
        if name == "TestActor" { return original }
        return try copies.withLock { made in
            if let path = made[name] { return path }
            let directory = try fresh("actors")
            let path = directory + "/" + name
            try FileManager.default.copyItem(atPath: original, toPath: path)
            made[name] = path
            return path
        }
    }

    /// Guards the copies of the actor that this run has made, by name.
    private static let copies = Mutex<[String: String]>([:])

    /// A new directory that everyone may enter.
    public static func fresh(_ purpose: String, in base: String = root) throws -> String {
        var template = Array("\(base)/\(purpose).XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure.call("mkdtemp in \(base)") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        chmod(path, 0o755)
        return path
    }
}

/// What a ``TestContainer`` is.
public enum ContainerLevel: Sendable {
    /// A plain directory without a daemon: contents and names are checked.
    case plain
    /// A mount whose versions nobody asks about: contents and names are checked.
    case mounted
    /// A mount with its versions.
    case versioned
}
