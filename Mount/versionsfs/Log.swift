// Where the daemon's log goes: standard error in the foreground, else syslog.

import CLinux
import Glibc
import Logging

/// Logs to syslog(3) as `versionsfs`.
struct SyslogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let details = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        linux_syslog(event.level.syslogPriority, "\(event.message)\(details)")
    }
}

extension Logger.Level {
    fileprivate var syslogPriority: Int32 {
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

extension Logger {
    static func daemon(_ arguments: Arguments) -> Logger {
        var logger = Logger(label: "versionsfs") { label -> any LogHandler in
            if arguments.inForeground { return StreamLogHandler.standardError(label: label) }
            return SyslogHandler()
        }
        logger.logLevel = arguments.isDebugging ? .debug : .info
        return logger
    }
}
