// What can go wrong with a container's state, in the words of the store.

import SystemPackage

/// Why the store could not be opened, or could not answer.
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process has the container open.
    case inUse
    /// The `format` file names a format that this version does not know; its line.
    case unknownFormat(String)
    /// The `format` file holds nothing that any version writes.
    case damagedFormat
    /// The directory has no state, and none may be made.
    case notAContainer
    /// The directory has an entry called `.versions`, which the mount needs for itself.
    case reservedName
    /// The state, or a part of it, is of the wrong kind, or not the right user's; with a sentence on that, and advice.
    case untrusted(String, advice: String)
    /// A system call on the state failed; what was being done.
    case io(Errno, String)
    /// The catalog could not answer: SQLite's result code and message.
    case catalog(code: Int32, String)

    public var description: String {
        switch self {
        case .inUse: "the container is in use by another process"
        case .unknownFormat(let line): "unknown container format: \(line)"
        case .damagedFormat: "the file .versionsfs/format is damaged"
        case .notAContainer: "not a container"
        case .reservedName: "the directory has an entry called .versions, a name that the mount needs for itself"
        case .untrusted(let what, _): what
        case .io(let error, let what): "\(what): \(error)"
        case .catalog(let code, let message): "catalog: \(message) (SQLite \(code))"
        }
    }
}
