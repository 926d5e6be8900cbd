// What `log` prints, for programs: the runs of programs, each with what it did.

import ControlProtocol
import VersionModel

/// All of them, newest first.
struct LogReport: Encodable {
    var entries: [LogEntry]
}

/// One run of a program. In the JSON `program` is empty and `pid` 0 where they are not known, and `user` is empty for
/// actions of the container itself.
struct LogEntry: Hashable, Sendable, Encodable {
    /// When the last of its events happened.
    var time: Timestamp
    var user: String
    var program: String
    var pid: Int32
    /// Newest first, at least one.
    var events: [Event]

    /// When the first of its events happened.
    var began: Timestamp { events.last?.time ?? time }

    private enum Keys: String, CodingKey { case time, user, program, pid, events }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(time, forKey: .time)
        try container.encode(user, forKey: .user)
        try container.encode(program, forKey: .program)
        try container.encode(pid, forKey: .pid)
        try container.encode(events, forKey: .events)
    }

    /// One event of a run.
    struct Event: Hashable, Sendable, Encodable {
        var time: Timestamp
        var event: ChangeEvent
        var path: Path
        var from: Path?
        var version: VersionID?
        var deletion: DeletionID?
        /// What was deleted, if that is known.
        var type: EntryType?
        /// What the save changed, where it was asked for and can be told.
        var difference: LogDifference?

        init(_ event: LoggedEvent) {
            (time, self.event, path, from) = (event.time, event.event, event.path, event.from)
            (version, deletion, type) = (event.version, event.deletion, event.type)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: TextKey.self)
            try container.encode(time, forKey: "time")
            try container.encode(event, forKey: "event")
            try container.encodeIfPresent(path: path, forKey: "path")
            try container.encodeIfPresent(path: from, forKey: "from")
            try container.encodeIfPresent(version, forKey: "version")
            try container.encodeIfPresent(deletion, forKey: "deletion")
            try container.encodeIfPresent(type, forKey: "type")
            try container.encodeIfPresent(difference?.added, forKey: "added")
            try container.encodeIfPresent(difference?.removed, forKey: "removed")
            try container.encodeIfPresent(difference?.text, forKey: "diff")
        }
    }
}

/// What a save changed.
struct LogDifference: Hashable, Sendable {
    /// Lines; nil where the content is not text.
    var added: Int?
    var removed: Int?
    /// What `diff -u` prints, if it was asked for.
    var text: String?
}
