// An actor that reads and saves: a process with its start time and its relevant ancestors (DESIGN 5.2).

/// A process, distinguished from a later one with the same number.
public struct ActorRef: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The process id (of the thread group), as the daemon sees it.
    public let process: Int32
    /// The start time: field 22 of `/proc/PID/stat`, in clock ticks since boot.
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

/// An actor with its lineage. (Swift has a protocol `Actor`, so the name differs.)
public struct FileActor: Hashable, Sendable {
    public let ref: ActorRef
    /// Its relevant ancestors, nearest first; never itself.
    public let lineage: [ActorRef]
    /// Whether the last of the lineage leads a session at a terminal: the shell of a user.
    public let endsAtTerminal: Bool

    public init(_ ref: ActorRef, lineage: [ActorRef] = [], endsAtTerminal: Bool = false) {
        self.ref = ref
        self.lineage = lineage
        self.endsAtTerminal = endsAtTerminal
    }

    /// Whether the two have a process in common: one of them, or an ancestor in both lineages.
    public func isOfOneFamily(with other: FileActor) -> Bool {
        !Set([ref] + lineage).isDisjoint(with: [other.ref] + other.lineage)
    }

    /// Whether one process has started both, according to their lineages.
    public func hasParent(of other: FileActor) -> Bool { lineage.first.map { $0 == other.lineage.first } ?? false }

    /// Whether the two are one process, or one is in the other's lineage. Siblings under one parent are not.
    public func isKin(of other: FileActor) -> Bool {
        ref == other.ref || lineage.contains(other.ref) || other.lineage.contains(ref)
    }
}
