// What the capture of a database leaves to the container: the version itself.

import SystemPackage
import VersionModel

/// Makes versions of captured databases.
protocol DatabaseSaver: AnyObject, Sendable {
    /// Saves a database under its document's lock.
    /// - Parameter image: its content; nil if its file is enough.
    func save(
        _ database: FoundDatabase, _ image: DatabaseImage?, _ state: inout Document.State, _ node: Node,
        _ name: Node.Name, _ requester: Requester
    ) throws(Errno)
}
