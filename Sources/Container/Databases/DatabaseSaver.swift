// What the capture of a database leaves to the container: the version itself.

import SystemPackage
import VersionModel

/// Makes versions of captured databases.
protocol DatabaseSaver: AnyObject, Sendable {
    /// Whether a database's file has changed since its last version; nil if it has no versions.
    func isChanged(_ database: FoundDatabase, of node: Node) throws(Errno) -> Bool?

    /// Makes a version of a database, unless that has changed since it was looked at.
    /// - Parameter image: its content; nil if its file is enough.
    /// - Returns: false if it has changed.
    func save(
        _ database: FoundDatabase, _ image: DatabaseImage?, of node: Node, by requester: Requester
    ) throws(Errno) -> Bool
}
