// Places and actors, which facts name by numbers.

import Lineage
import VersionModel

/// A program that reads and saves: a process, and the user and the program that it had then.
///
/// A process that begins another program (execve(2)) is another one here, because users see the program's name.
public struct ActorFacts: Hashable, Sendable {
    public var author: Author
    /// The start time: field 22 of `/proc/PID/stat`, in clock ticks since boot; 0 if it is unknown.
    public var started: UInt64

    public init(author: Author, started: UInt64) { (self.author, self.started) = (author, started) }

    public var ref: ActorRef { ActorRef(process: author.process, started: started) }
}

/// A row of the table of places.
struct PlaceRecord: Hashable, Sendable {
    var number: PlaceNumber
    var place: Place
}

/// A row of the table of actors.
struct ActorRecord: Hashable, Sendable {
    var number: ActorNumber
    /// The number of the boot in which the process was started.
    var boot: UInt32
    var facts: ActorFacts
}

extension Fact {
    /// The place that a fact names.
    var place: PlaceNumber? { if case .row(let row) = self { row.place } else { nil } }

    /// The program that a fact names.
    var actor: ActorNumber? {
        switch self {
        case .row(let row): row.actor
        case .version(let version), .amend(let version): version.author
        case .settle, .forget, .publish, .purge: nil
        }
    }
}
