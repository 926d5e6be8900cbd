// What the tree under `.versions` asks of a container.

import Logging
import SystemPackage
import VersionModel
import VersionStore

/// A container whose versions and deleted things can be looked at as files.
protocol BrowsableContainer: AnyObject, Sendable {
    var tree: LiveTree { get }
    /// Contents and deleted entries.
    var state: ContainerState { get }
    var history: any ContainerHistory { get }
    var passthrough: Passthrough { get }
    var logger: Logger { get }
    /// The control socket; nil if the container has none.
    var socketPath: String? { get }

    func requester(_ caller: Caller) -> Requester
    /// The value of one of `user.versions.*` for a node without versions: a directory, or a foreign file.
    func toldOfOther(_ key: String, _ node: Node) throws(Errno) -> [UInt8]
    /// The file with the bytes of a version that is not kept as an object; nil if there is none any more.
    func file(holding version: Version) throws(Errno) -> SharedDescriptor?
    func content(of deletion: DeletionID) -> DeletedContent
    /// Makes a loser's content the document's.
    func choose(_ loser: VersionID, at name: Node.Name, _ requester: Requester) throws(Errno)
    /// Moves an entry of the deleted list to a name that is free. A directory comes with its last group.
    func bringBack(_ deletion: DeletionID, to name: Node.Name, _ requester: Requester) throws(Errno)
}

/// Where the content of an entry of the deleted list is.
enum DeletedContent {
    /// Kept as a version.
    case version(Version)
    case file(Location)
}
