// The place of the daemon's log: standard error in the foreground, else the journal, else a file, else syslog.

import CLinux
import ControlProtocol
import Glibc
import LocalState
import Logging
import SystemPackage
import VersionModel

/// A daemon's log.
struct DaemonLog {
    let logger: Logger
    /// What `status` says of it: `journal`, `stderr`, `syslog`, or the file's path.
    let place: String

    /// - Parameters:
    ///   - container: the container's directory.
    ///   - mountpoint: where it is going to be mounted.
    init(_ arguments: Arguments, _ container: FilePath, on mountpoint: FilePath) {
        let destination = LogDestination.choose(arguments, Path(bytes: container.bytes), Path(bytes: mountpoint.bytes))
        switch destination {
        case .standardError: place = "stderr"
        case .journal: place = "journal"
        case .file(_, let path): place = path.description
        case .syslog: place = "syslog"
        }
        var logger = Logger(label: "versionsfs") { label -> any LogHandler in
            if case .standardError = destination { return StreamLogHandler.standardError(label: label) }
            return DaemonLogHandler(destination: destination, container: Path(bytes: container.bytes))
        }
        logger.logLevel = arguments.isDebugging ? .debug : .info
        self.logger = logger
    }
}

/// What takes the messages.
enum LogDestination {
    case standardError
    case journal(Journal)
    case file(LogFile, Path)
    case syslog

    static func choose(_ arguments: Arguments, _ container: Path, _ mountpoint: Path) -> LogDestination {
        // Of a service, systemd has standard error in the journal: there each message has its fields, too.
        if arguments.inForeground, !Journal.takes(2) { return .standardError }
        if let journal = Journal() { return .journal(journal) }
        if arguments.inForeground { return .standardError }
        let covered = covered(container, mountpoint)
        return TimeLimit.run(seconds: KnownMount.patience) { () -> LogDestination in
            for path in LogPlace.files(for: container, in: StateHome(), outside: covered) {
                if let file = LogFile(path) { return .file(file, path) }
            }
            return .syslog
        } ?? .syslog
    }

    /// The directories that a daemon must not write to by their names: one that is mounted, or is going to be, would
    /// have it wait for itself or for another.
    static func covered(_ container: Path, _ mountpoint: Path) -> [Path] {
        FileSystemsBelow.ours.flatMap { [Path(bytes: $0.point), Path(bytes: $0.directory)] } + [container, mountpoint]
    }
}

/// Hands messages on, each with the container's directory.
private struct DaemonLogHandler: LogHandler {
    let destination: LogDestination
    let container: Path
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(destination: LogDestination, container: Path) {
        self.destination = destination
        self.container = container
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let details = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        let message = "\(event.message)\(details)"
        switch destination {
        case .standardError: break
        case .journal(let journal): journal.send(message, priority: event.level.priority, container: container)
        case .file(let file, _):
            file.write(LogLine(time: SystemClock().now(), level: event.level.rawValue, message: message).text)
        case .syslog: linux_syslog(event.level.priority, message)
        }
    }
}

extension Logger.Level {
    /// As syslog(3) has it.
    fileprivate var priority: Int32 {
        switch self {
        case .critical: LOG_CRIT
        case .error: LOG_ERR
        case .warning: LOG_WARNING
        case .notice: LOG_NOTICE
        case .info: LOG_INFO
        case .debug, .trace: LOG_DEBUG
        }
    }
}
