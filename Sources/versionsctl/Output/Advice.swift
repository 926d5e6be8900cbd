// What to do about an error that does not say it itself.

import ControlProtocol
import Glibc

extension ControlError {
    /// Its own advice, else what is worth trying for its kind; nil if the message says all.
    var whatToDo: String? { advice ?? errno.flatMap { Self.advice(errno: $0) } ?? Self.advice(code) }

    private static func advice(errno number: Int32) -> String? {
        switch number {
        case ENOENT: "check the spelling"
        case ENOTDIR: "a directory is needed there"
        case EISDIR: "a file is needed there"
        case EACCES, EPERM: "ask its owner, or root"
        case ENOSPC, EDQUOT: "make room: versionsctl thin, versionsctl purge --deleted"
        case EROFS: "mount it without -o ro, or remount what lies below"
        case EIO: "see dmesg, and versionsctl check"
        case ENAMETOOLONG, ELOOP, EINVAL: "give another path"
        case ENOTCONN: "versionsctl mount DIR mounts it again"
        case EMFILE, ENFILE, ENOMEM: "try again when less is running"
        default: nil
        }
    }

    private static func advice(_ code: Code) -> String? {
        switch code {
        case .notFound: "check the spelling, or see versionsctl deleted"
        case .denied: "ask its owner, or root"
        case .contentMissing: "versionsctl history lists the versions that are whole"
        case .busy: "try again in a moment"
        case .system: "see dmesg, and the log that versionsctl status names"
        case .unknownMethod, .invalidParameters, .invalidRequest, .malformed:
            "use the tool and the daemon of one release"
        default: nil
        }
    }
}
