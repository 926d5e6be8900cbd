// Where a container's log is, found without touching its mount: the log is read when a daemon is stuck, too.

import ControlProtocol
import Glibc
import LocalState
import VersionsClient

enum LogSource {
    case journal(container: Path)
    case file(Path)

    /// - Parameter typed: a path in the container; nil for the current directory.
    static func find(_ typed: Path?) async throws(ControlError) -> LogSource {
        let directory = try directory(of: typed ?? Path("."))
        let entry = await ContainerList.served().first { $0.directory == directory }
        let files = LogPlace.files(for: directory, in: StateHome(), outside: [])
        switch entry?.log {
        case "journal"?: return .journal(container: directory)
        case "stderr"?:
            throw ControlError(
                .failed, "its daemon was started with -f, and its log goes to standard error", path: directory,
                advice: "look where the daemon was started, or mount it with `versionsctl mount`")
        case "syslog"?:
            throw ControlError(
                .failed, "its log goes to syslog", path: directory, advice: "look into /var/log/syslog for versionsfs")
        case let path?: return .file(files.first { $0.description == path } ?? Path(path))
        // As a daemon would choose now.
        case nil: return Journal() == nil ? try newest(files, directory) : .journal(container: directory)
        }
    }

    private static func newest(_ files: [Path], _ directory: Path) throws(ControlError) -> LogSource {
        let found = files.filter { Files.exists($0) }.max { (Files.modified($0) ?? 0) < (Files.modified($1) ?? 0) }
        if let found { return .file(found) }
        throw ControlError(
            .notFound, "no log of this container", path: directory,
            advice: "`versionsctl mount \(Style.printable(directory))` starts one")
    }

    /// The container's directory.
    private static func directory(of typed: Path) throws(ControlError) -> Path {
        let mounts = MountTable.current().filter(\.isOurs)
        if let path = absolute(typed), let mount = mounts.last(where: { $0.contains(path) }) { return mount.source }
        let place = try ContainerPlace.find(typed)
        return mounts.last { $0.point == place.root }?.source ?? place.root
    }

    /// An absolute path by the text alone; the kernel says the current directory without asking a daemon.
    private static func absolute(_ typed: Path) -> Path? {
        var names: [ArraySlice<UInt8>] = []
        var bytes = typed.bytes
        if bytes.first != 47 {
            guard let pointer = getcwd(nil, 0) else { return nil }
            defer { free(pointer) }
            bytes = UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)) + [47] + bytes
        }
        for name in bytes.split(separator: 47) where name != [46] {
            if name == [46, 46] { _ = names.popLast() } else { names.append(name) }
        }
        return Path(bytes: [47] + names.joined(separator: [47]))
    }
}
