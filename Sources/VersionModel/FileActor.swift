// Who reads and saves: a process with its start time, and the ancestors that count with it (DESIGN 5.2).

/// A process that cannot be confused with a later one of the same number.
public struct ActorRef: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The process id (of the thread group), as the daemon sees it.
    public let process: Int32
    /// When it started: field 22 of `/proc/PID/stat`, in clock ticks since boot.
    public let started: UInt64

    public init(process: Int32, started: UInt64) {
        self.process = process
        self.started = started
    }

    public var description: String { "\(process)@\(started)" }

    public static func < (left: ActorRef, right: ActorRef) -> Bool {
        (left.started, left.process) < (right.started, right.process)
    }
}

/// An actor with its lineage. (Not called `Actor`: that is a protocol of the language.)
public struct FileActor: Hashable, Sendable {
    public let ref: ActorRef
    /// Its ancestors, nearest first, as far as they count with it; never itself.
    public let lineage: [ActorRef]
    /// The last of the lineage leads a session at a terminal: a shell that somebody types at.
    public let endsAtTerminal: Bool

    public init(_ ref: ActorRef, lineage: [ActorRef] = [], endsAtTerminal: Bool = false) {
        self.ref = ref
        self.lineage = lineage
        self.endsAtTerminal = endsAtTerminal
    }

    /// Whether the two have a process in common: one of them, or an ancestor that counts with both.
    public func isOfOneFamily(with other: FileActor) -> Bool {
        !Set([ref] + lineage).isDisjoint(with: [other.ref] + other.lineage)
    }

    /// Whether one process has started both, as far as that counts with them.
    public func hasParent(of other: FileActor) -> Bool { lineage.first.map { $0 == other.lineage.first } ?? false }

    /// Whether the two are one process, or one is in the other's lineage. Siblings under one parent are not.
    public func isKin(of other: FileActor) -> Bool {
        ref == other.ref || lineage.contains(other.ref) || other.lineage.contains(ref)
    }
}
