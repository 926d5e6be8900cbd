// The errors of a container's state, with the store's messages.

import SystemPackage

/// The reason why the store could not be opened, or could not answer.
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process has the container open.
    case inUse
    /// The `format` file has a format that this version does not know; its line.
    case unknownFormat(String)
    /// A catalog has tables of a version that this version does not know.
    case unknownCatalog(version: Int64)
    /// The `format` file has text that no version writes.
    case damagedFormat
    /// The directory has no state, and none may be made.
    case notAContainer
    /// The directory has an entry named `.versions`, which the mount needs itself.
    case reservedName
    /// The state, or a part of it, has the wrong type or owner; with a sentence about it, and advice.
    case untrusted(String, advice: String)
    /// A system call on the state failed; with the name of the operation.
    case io(Errno, String)
    /// The catalog could not answer: SQLite's result code and message.
    case catalog(code: Int32, String)

    public var description: String {
        switch self {
        case .inUse: "the container is in use by another process"
        case .unknownFormat(let line): "unknown container format: \(line)"
        case .unknownCatalog(let version):
            "the catalog is of version \(version), which this release of VersionsFS does not know"
        case .damagedFormat: "the file .versionsfs/format is damaged"
        case .notAContainer: "not a container"
        case .reservedName: "the directory has an entry called .versions, a name that the mount needs for itself"
        case .untrusted(let what, _): what
        case .io(let error, let what): "\(what): \(error)"
        case .catalog(let code, let message): "catalog: \(message) (SQLite \(code))"
        }
    }
}
