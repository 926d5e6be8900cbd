// What requests and operations ask of the live tree.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    static var stateName: [UInt8] { LiveTree.stateName }
    static var browseName: [UInt8] { LiveTree.browseName }

    /// For how many seconds the kernel may keep that a name does not exist.
    public static let missingNameValid = Validity.long
    /// A time that stands for the moment of the call (UTIME_NOW).
    public static var timeNow: timespec { timespec(tv_sec: 0, tv_nsec: Int(linux_UTIME_NOW)) }

    var root: SharedDescriptor { tree.root }
    var rootKey: BackingKey { tree.rootKey }
    var identity: FileIdentity { tree.identity }
    var names: ReadWriteLock { tree.names }
    var nodes: NodeTable { tree.nodes }

    // MARK: Names and nodes

    func name(
        _ bytes: [UInt8], in parent: Node, forChange: Bool = false, takesAway: Bool = false
    ) throws(Errno) -> FileName {
        try tree.name(bytes, in: parent, forChange: forChange, takesAway: takesAway)
    }

    func path(of name: FileName, in parent: Node) -> TreePath { tree.path(of: name, in: parent) }
    func node(_ id: UInt64) throws(Errno) -> Node { try tree.node(id) }
    func descriptor(of directory: Node) throws(Errno) -> SharedDescriptor { try tree.descriptor(of: directory) }
    func location(of node: Node) throws(Errno) -> Location { try tree.location(of: node) }
    func isLive(_ node: Node) -> Bool { tree.isLive(node) }

    /// Finds a name in a directory and counts a look-up.
    public func lookup(_ caller: Caller, parent: UInt64, name: [UInt8]) throws(Errno) -> Found? {
        try tree.lookup(parent: parent, name: name)
    }

    func found(_ stat: FileStat, as name: Node.Name) -> Found { tree.found(stat, as: name) }

    func intern(_ stat: FileStat, as name: Node.Name, lookups: UInt64) -> Node {
        tree.intern(stat, as: name, lookups: lookups)
    }

    func fileID(_ stat: FileStat) -> FileID { tree.fileID(stat) }

    public func forget(_ id: UInt64, lookups: UInt64) {
        if let node = tree.forget(id, lookups: lookups) { serving.passthrough.dropForgotten(node) }
    }

    // MARK: Attributes

    func attributes(_ stat: FileStat, of node: Node) -> FileAttributes { tree.attributes(stat, of: node) }

    // MARK: The very file

    func ownFile(of node: Node) throws(Errno) -> Location { try tree.ownFile(of: node) }

    func openOwn(_ node: Node, flags: Int32) throws(Errno) -> SharedDescriptor { try tree.openOwn(node, flags: flags) }

    func openOwnByName(_ node: Node, flags: Int32) throws(Errno) -> SharedDescriptor {
        try tree.openOwnByName(node, flags: flags)
    }

    func withOwn<Result>(_ node: Node, _ body: (Int32) throws(Errno) -> Result) throws(Errno) -> Result {
        try tree.withOwn(node, body)
    }

    func directory(beneath path: TreePath) throws(Errno) -> SharedDescriptor { try tree.directory(beneath: path) }

    // MARK: Containers within, and new files

    func isNested(_ name: FileName, _ stat: FileStat, in directory: SharedDescriptor) -> Bool {
        tree.isNested(name, stat, in: directory)
    }

    func requireSameContainer(_ one: Node, _ other: Node) throws(Errno) {
        try tree.requireSameContainer(one, other)
    }

    func adopt(
        _ name: FileName, in directory: SharedDescriptor, for caller: Caller, mode: mode_t?,
        file: SharedDescriptor? = nil
    ) throws(Errno) -> FileStat {
        try tree.adopt(name, in: directory, for: caller, mode: mode, file: file)
    }
}
