// What a change of a file's metadata leaves to those who keep contents.

import CLinux
import Glibc
import SystemPackage

/// A request's changes of a file's attributes; nil leaves a field as it is.
public struct AttributeEdit: Sendable {
    public var mode: mode_t?
    public var user: uid_t?
    public var group: gid_t?
    public var size: off_t?
    /// `tv_nsec` may be UTIME_NOW.
    public var accessed: timespec?
    public var modified: timespec?
    public var dropsSetID = false

    public init() {}

    var changesMetadata: Bool {
        mode != nil || user != nil || group != nil || accessed != nil || modified != nil || dropsSetID
    }
}

/// A change of a file's attributes that is about to be made.
struct MetadataChange {
    var node: Node
    /// Whether it sets the time of the last change.
    var setsModified: Bool
    /// The file as it is.
    var before: FileStat
    var caller: Caller

    /// Whether others hear of it, now that the file is like this.
    func isTold(_ after: FileStat) -> Bool {
        before.permissions != after.permissions || before.raw.user != after.raw.user
            || before.raw.group != after.raw.group || setsModified && before.modified != after.modified
    }
}

/// Sees to it that a change of a file's metadata does not look like a change of its content, and tells of it.
protocol ContentKeeper: AnyObject, Sendable {
    // These are called with the names shared.

    /// Makes any change of a file's metadata.
    func preservingStamp(of node: Node, _ body: () throws(Errno) -> Void) throws(Errno)

    /// Makes a change of attributes, and tells those who listen.
    ///
    /// - Parameters:
    ///   - look: looks at the file.
    ///   - body: makes the change.
    /// - Returns: the file as it is then.
    func make(
        _ change: MetadataChange, look: () throws(Errno) -> FileStat, _ body: () throws(Errno) -> Void
    ) throws(Errno) -> FileStat

    /// Tells of changed metadata.
    /// - Parameter mayHaveMode: whether the mode may be another one now.
    func metadataChanged(of node: Node, mayHaveMode: Bool, by caller: Caller)

    // These are called with no lock held.

    /// The time of the last change of a file is about to be set.
    func timeWillChange(of node: Node)

    /// Others can see that attributes have changed.
    func attributesChanged(of node: Node, by caller: Caller)

    /// truncate(2) and ftruncate(2), which change the content.
    func resize(_ node: Node, _ handle: UInt64?, to size: off_t, by caller: Caller) throws(Errno)

    /// One of the attributes `user.versions.*`.
    func versionsAttribute(_ key: String, of node: Node) throws(Errno) -> [UInt8]
}
