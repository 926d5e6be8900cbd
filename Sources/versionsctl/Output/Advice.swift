// What to do about an error that does not say it itself.

import ControlProtocol
import Glibc

extension Diagnostic {
    /// An error as people see it.
    init(_ error: ControlError) {
        self.init(error.path.map { Style.printable($0) }, error.message, hint: error.whatToDo)
    }
}

extension ControlError {
    /// Its own advice, else what is worth trying for its kind; nil if the message says all.
    var whatToDo: String? { advice ?? errno.flatMap { Self.advice(errno: $0) } ?? Self.advice(code) }

    private static func advice(errno number: Int32) -> String? {
        switch number {
        case ENOENT: "check the spelling"
        case ENOTDIR: "a directory is needed there"
        case EISDIR: "a file is needed there"
        case EACCES, EPERM: "ask its owner, or root"
        case ENOSPC, EDQUOT: "make room; `versionsctl thin` and `versionsctl purge --deleted` give up history"
        case EROFS: "mount it without -o ro, or remount what lies below"
        case EIO: "see dmesg, and `versionsctl check`"
        case ENAMETOOLONG, ELOOP, EINVAL: "give another path"
        case ENOTCONN: "`versionsctl mount DIR` mounts it again"
        case EMFILE, ENFILE, ENOMEM: "try again when less is running"
        default: nil
        }
    }

    private static func advice(_ code: Code) -> String? {
        switch code {
        case .notFound: "check the spelling, or see `versionsctl deleted`"
        case .denied: "ask its owner, or root"
        case .contentMissing: "`versionsctl history` lists the other versions"
        case .busy, .cancelled, .deadlock: "try again in a moment"
        case .system, .failed: "the kernel's log (`dmesg`) and the log that `versionsctl status` names may say more"
        case .exists: "choose another name"
        case .ambiguous: "give more digits"
        case .nothingToDo: "`versionsctl status` counts conflicts and deleted entries"
        case .noContainer: "`versionsctl mount DIR` makes a directory a container"
        case .notMounted, .disconnected: "`versionsctl mount DIR` mounts it again"
        case .invalidValue: "`versionsctl help COMMAND` explains the values"
        case .refused: "`versionsctl presenters` lists the programs that present it"
        case .incompatible: "use the tool and the daemon of one release"
        case .unknownMethod, .invalidParameters, .invalidRequest, .malformed:
            "use the tool and the daemon of one release"
        default: nil
        }
    }
}
