// Who asks for something: as the kernel says it, and as /proc explains it.

import Glibc
import VersionModel

/// What a request of the kernel says of its caller.
public struct Caller: Sendable {
    public var user: uid_t
    public var group: gid_t
    /// The thread, in the daemon's pid namespace; 0 if it is outside.
    public var thread: pid_t
    public var umask: mode_t
    /// In an open that truncates and in a write: without the right to keep set-id bits, so they go.
    public var dropsSetID: Bool
    /// An operation of the control socket asks in somebody's name.
    var isOperation = false

    public init(user: uid_t, group: gid_t, thread: pid_t, umask: mode_t = 0, dropsSetID: Bool = false) {
        self.user = user
        self.group = group
        self.thread = thread
        self.umask = umask
        self.dropsSetID = dropsSetID
    }
}

/// The process behind a request.
public struct Requester: Sendable {
    /// nil if nobody can tell.
    public var actor: FileActor?
    public var author: Author
    /// A program removes what it removes, and wants it gone; an operation says that it is in the deleted area.
    var isProgram = false

    public init(actor: FileActor?, author: Author) {
        self.actor = actor
        self.author = author
    }
}
