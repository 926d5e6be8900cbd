// The hidden `.versions` of every directory: versions and deleted things as files (DESIGN 3.2).

import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// Serves the tree under `.versions`. Its methods correspond to ``ContainerRequests``. A request comes here if
/// ``owns(_:)`` is true for its node, or if it looks up ``name`` in a live directory. Requests without a method here
/// (create, write, set, remove) get EROFS.
///
/// It keeps little more than the kernel's nodes: answers come from the catalog, so that they are current, and the
/// kernel may cache them for at most a second. Locks: those of the container, in its order.
public final class Browser: Sendable {
    /// `.versions`
    public static let name = LiveTree.browseName
    /// For how many seconds the kernel may keep that a name does not exist here.
    public static let missingNameValid: Double = Validity.none

    let container: any BrowsableContainer
    let nodes = BrowseTable()
    let files = BrowseHandles<BrowsedFile>()
    let listings = BrowseHandles<BrowsedListing>()
    let deletionListings = DeletionListings()

    public convenience init(_ container: LiveContainer) { self.init(of: container) }

    init(of container: any BrowsableContainer) { self.container = container }

    /// Whether a node's number, or a handle, is one of ours.
    public static func owns(_ number: UInt64) -> Bool { number & BrowseTable.mark != 0 && number >> 63 == 0 }

    /// How many nodes the kernel holds.
    public var nodeCount: Int { nodes.count }

    var state: ContainerState { container.state }
    var tree: LiveTree { container.tree }

    func node(_ id: UInt64) throws(Errno) -> BrowseNode {
        guard let node = nodes[id] else { throw Errno(rawValue: ESTALE) }
        return node
    }

    /// Finds a name under `.versions`, or `.versions` in a live directory, and counts a look-up; nil if there is none.
    public func lookup(_ caller: Caller, parent id: UInt64, name bytes: [UInt8]) throws(Errno) -> Found? {
        guard bytes.count <= 255 else { throw .fileNameTooLong }
        guard let name = FileName(bytes: bytes) else { throw .invalidArgument }
        guard Self.owns(id) else {
            let directory = try tree.node(id)
            guard directory.isDirectory else { throw .notDirectory }
            guard bytes == Self.name, !directory.isForeign else { return nil }
            return try found(.top(directory.file), in: directory, parent: nil)
        }
        let parent = try node(id)
        if case .section(let place, let section) = parent.subject {
            // The row that has the name has the attributes, too.
            guard let version = try version(named: name, at: place, in: section) else { return nil }
            let subject = BrowseSubject.version(place, section, version.id)
            let attributes = Self.attributes(of: version, inode: subject.inode(tree.identity))
            let node = nodes.intern(subject, directory: parent.directory, parent: parent)
            return Found(node: node.id, attributes: attributes, nameValid: Validity.none)
        }
        guard let subject = try child(name, of: parent) else { return nil }
        return try found(subject, in: parent.directory, parent: parent)
    }

    func found(_ subject: BrowseSubject, in directory: Node, parent: BrowseNode?) throws(Errno) -> Found {
        let attributes = try attributes(of: subject, in: directory)
        let node = nodes.intern(subject, directory: directory, parent: parent)
        // The kernel takes a renamed entry along to its new name: it must ask before it believes in it there.
        return Found(node: node.id, attributes: attributes, nameValid: Validity.none)
    }

    public func forget(_ id: UInt64, lookups: UInt64) { nodes.forget(id, lookups: lookups) }

    public func attributes(_ caller: Caller, node id: UInt64, handle: UInt64?) throws(Errno) -> FileAttributes {
        let node = try node(id)
        do throws(Errno) {
            return try attributes(of: node.subject, in: node.directory)
        } catch {
            // An open file has attributes even when its name is gone.
            guard error == .noSuchFileOrDirectory, let handle, let file = files[handle] else { throw error }
            return file.attributes
        }
    }

    public func readLink(_ caller: Caller, node id: UInt64) throws(Errno) -> [UInt8] {
        let node = try node(id)
        switch node.subject {
        case .socket:
            guard let path = container.socketPath else { throw .noSuchFileOrDirectory }
            return Array(path.utf8)
        case .deletion(let deletion, _):
            guard case .file(let place) = container.content(of: deletion) else { throw .invalidArgument }
            return try Backing.readLink(place.path, in: place.directory.raw)
        default: throw .invalidArgument
        }
    }

    /// Runs a query of the history.
    func query<Result>(_ body: (any ContainerHistory) throws(StoreError) -> Result) throws(Errno) -> Result {
        do throws(StoreError) { return try body(container.history) } catch let problem {
            container.logger.error("the catalog did not answer: \(problem)")
            throw .ioError
        }
    }
}
