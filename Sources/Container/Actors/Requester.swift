// The caller of a request, from the kernel and from /proc.

import Glibc
import SystemPackage
import VersionModel

/// The kernel's facts about a request's caller.
public struct Caller: Sendable {
    public var user: uid_t
    public var group: gid_t
    /// The thread, in the daemon's pid namespace; 0 if it is outside.
    public var thread: pid_t
    public var umask: mode_t
    /// In an open that truncates and in a write: the caller may not keep set-id bits, so they are dropped.
    public var dropsSetID: Bool
    /// Whether an operation of the control socket acts for a client.
    var isOperation = false

    public init(user: uid_t, group: gid_t, thread: pid_t, umask: mode_t = 0, dropsSetID: Bool = false) {
        self.user = user
        self.group = group
        self.thread = thread
        self.umask = umask
        self.dropsSetID = dropsSetID
    }

    /// Makes an entry of the live tree with the caller's umask. The daemon makes its own files and directories with the
    /// daemon's umask: under the caller's, an ordinary user's daemon might not enter a directory of its own.
    func making<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        let own = Glibc.umask(umask)
        defer { _ = Glibc.umask(own) }
        return try body()
    }
}

/// The process behind a request.
public struct Requester: Sendable {
    /// nil if it is unknown.
    public var actor: FileActor?
    public var author: Author
    /// Whether it is a program, whose removed temporary files go for good. An operation moves them to the deleted area.
    var isProgram = false

    public init(actor: FileActor?, author: Author) {
        self.actor = actor
        self.author = author
    }
}

extension Requester {
    /// Whether its program makes names like this one up (``TemporaryNames``).
    func makesUp(_ name: FileName) -> Bool {
        TemporaryNames.mayBeEphemeral(name)
            && TemporaryNames.ephemeral(name, program: author.program, process: author.process)
    }
}
