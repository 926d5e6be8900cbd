// Carries out what requests mean: gathers what a plan needs, plans, does its steps and its system call, records its
// facts in one transaction, and remembers what is left (facts.md 7).

import CLinux
import Lineage
import SystemPackage
import VersionModel

/// The core of a container in use. A request says which event it is, and how its system call is made. All decisions are
/// `Lineage`'s.
///
/// Locks: an event has its files and documents alone (``SubjectLocks``), and after that, if it changes names, the
/// names. What takes long (copies, hashes, reads of the catalog) is done before the names are taken. Then the event is
/// planned anew.
final class Engine: Sendable {
    /// What an engine is made of.
    struct Parts: Sendable {
        var files: any FilesBelow
        var kept: any KeptContents
        var recorder: any FactRecorder
        var clock: any WallClock
        /// The places and files that the next mount looks at if this process is killed.
        var marks: any Marks = NoMarks()
        /// When nothing watched the files.
        var unwatched: Range<Timestamp>?
        /// How programs are related, of those that are asked about.
        var kin: @Sendable ([ActorNumber]) -> Kin
        /// To which programs it matters what these have seen.
        var audiences: Audiences = { _ in [:] }
        /// The identity by which a file is shown that no fact tells of.
        var identity: @Sendable (FileID) -> ItemID? = { _ in nil }
        /// Which of these places are quiet.
        var quiet: @Sendable ([PlaceNumber]) -> [PlaceNumber] = { _ in [] }
    }

    /// How often an event is planned before what takes long is done with the names held: a writer that never rests
    /// changes its file after each copy.
    static let patience = 5
    static let mostAttempts = 1000

    let parts: Parts
    let known: FactMemory
    let scene: SceneTable
    let subjects = SubjectLocks()
    let lasting: LastingMarks
    private let unmade = UnmadeFiles()
    let lookedAt = LookedAt()
    let names: ReadWriteLock
    let room = EngineRoomLink()

    init(_ parts: Parts, names: ReadWriteLock) {
        (self.parts, self.names) = (parts, names)
        scene = SceneTable(parts.audiences)
        lasting = LastingMarks(parts.marks)
        known = FactMemory(after: parts.recorder.log.lastNumber)
    }

    /// Loads facts that a plan has missed. No lock is held, but for those of files and documents.
    /// - Throws: EIO if the catalog cannot be read.
    func load(_ missing: [Missing]) throws(Errno) {
        guard known.load(missing, from: parts.recorder.log, isSound: parts.recorder.isSound) else { throw .ioError }
    }

    /// The engine remembers so many facts, and as many files, however old they are: a save of one of them asks the
    /// catalog for nothing.
    static let mostIdle = 32_000

    /// The engine forgets files that no program has open, facts that the catalog has, and what programs have seen that
    /// have ended, if these are many. It goes on to remember what counts for programs that run.
    func forgetIdle(beyond most: Int = 0) {
        let (facts, files) = (known.count, scene.count)
        if files > most { scene.forgetIdleFiles() }
        if scene.countOfSeen > most { scene.forgetEnded() }
        if facts > most { known.trim(now: parts.clock.now(), open: scene.openFiles, recent: most / 4) }
        if max(facts, files) > most { linux_return_memory() }
    }

    /// Carries out an event of one or several files that changes no name.
    ///
    /// - Parameters:
    ///   - found: names of the event, and the files that the request has found there.
    ///   - doubted: a file that may have changed although no time has moved.
    ///   - shortage: the room that the call needs.
    ///   - call: makes the system call. Where it has no room, it is made once more.
    /// - Throws: ESTALE if a name has another file by now; what the call throws, or the keeping of a content before it.
    ///   Nothing has happened then, but for bytes that are a version now.
    @discardableResult
    func perform(
        _ event: Event, _ found: [FileAtPlace] = [], doubted: FileID? = nil, needing shortage: Shortage = Shortage(),
        _ call: () throws(Errno) -> Void = {}
    ) throws(Errno) -> Plan {
        try carryOut([event], found, doubted: doubted, needing: shortage) { work throws(Errno) in
            try work.finish { (_) throws(Errno) in try call() }
        }
    }

    /// A database is captured.
    ///
    /// - Parameter call: is given the image as a content to be kept; nil if no version has it. Nothing happens if it
    ///   throws.
    @discardableResult
    func capture(
        _ captured: Captured, _ found: FileAtPlace, _ call: (WholeContent?) throws(Errno) -> Void
    ) throws(Errno) -> Plan {
        try carryOut([.capture(found.place, captured)], [found], needing: Shortage(isRecord: true)) {
            work throws(Errno) in
            try work.finish { (change) throws(Errno) in try call(change.whole) }
        }
    }

    /// The same without making room: for what makes some.
    func performPlainly(_ event: Event, _ call: () throws(Errno) -> Void = {}) throws(Errno) -> Plan {
        var work = EventWork([event], [], self)
        defer { work.end() }
        work.begin()
        while true {
            if let plan = try work.finish({ (_) throws(Errno) in try call() }) { return plan }
            try work.prepare()
        }
    }

    /// Carries out an event that changes names.
    ///
    /// - Parameter call: makes the system call. It is given the content that the call itself keeps, by moving the file
    ///   that loses its last name among the kept contents; nil if there is none.
    @discardableResult
    func performOnNames(
        _ event: Event, _ found: [FileAtPlace] = [],
        _ call: (borrowing NamesHeldAlone, WholeContent?) throws(Errno) -> Void
    ) throws(Errno) -> Plan {
        try changeNames([event], found) { (names, change) throws(Errno) in try call(names, change.whole) }
    }

    /// Carries out one system call on names. It may be two events: the removal of what has a name, and the arrival of
    /// another file there (``Planning/plan(all:in:)``).
    ///
    /// - Parameter call: makes the system call.
    @discardableResult
    func changeNames(
        _ events: [Event], _ found: [FileAtPlace],
        _ call: (borrowing NamesHeldAlone, inout NameChange) throws(Errno) -> Void
    ) throws(Errno) -> Plan {
        try carryOut(events, found, needing: Shortage(isRecord: true)) { work throws(Errno) in
            try names.writing { (names) throws(Errno) -> Plan? in
                try work.finish(hasNames: true) { change throws(Errno) in try call(names, &change) }
            }
        }
    }

    /// Carries out an event that gives a name to a new file, which the request has made without one.
    ///
    /// - Parameters:
    ///   - file: the new file, in reach.
    ///   - substitutes: what the file gets in place of a version whose bytes are gone.
    ///   - call: gives it the name. It is given the plan: which file gets the name, and with which time.
    @discardableResult
    func performNaming(
        _ file: FileID, _ event: Event, _ found: [FileAtPlace] = [], substitutes: [VersionNumber: VersionRow] = [:],
        _ call: (borrowing NamesHeldAlone, EventDraft) throws(Errno) -> Void
    ) throws(Errno) -> Plan {
        known.begin(file)
        return try carryOut([event], found, needing: Shortage(isRecord: true), substitutes: substitutes) {
            work throws(Errno) in
            try names.writing { (names) throws(Errno) -> Plan? in
                try work.finish(hasNames: true) { change throws(Errno) in try call(names, change.draft) }
            }
        }
    }
}

extension Engine {
    /// Carries out an event that makes a file under a free name.
    ///
    /// - Parameters:
    ///   - type: what is made.
    ///   - event: the event, once the file is known.
    ///   - call: makes the file. The files below have it from then on.
    @discardableResult
    func performMaking(
        of type: EntryType = .file, _ event: (FileID) -> Event,
        _ call: (borrowing NamesHeldAlone) throws(Errno) -> FileID
    ) throws(Errno) -> Plan {
        let unmade = unmade.take(known)
        defer { self.unmade.giveBack(unmade) }
        return try carryOut([event(unmade)], []) { work throws(Errno) in
            try names.writing { (names) throws(Errno) -> Plan? in
                try work.finish(making: type, event) { () throws(Errno) in try call(names) }
            }
        }
    }

    /// Finishes events, and prepares them for that, as often as it takes. No lock is held while room is made.
    private func carryOut(
        _ events: [Event], _ found: [FileAtPlace], doubted: FileID? = nil, needing shortage: Shortage = Shortage(),
        substitutes: [VersionNumber: VersionRow] = [:],
        _ finish: (inout EventWork) throws(Errno) -> Plan?
    ) throws(Errno) -> Plan {
        let plan = try room.retrying(shortage) { shortage throws(Errno) -> Plan in
            var work = EventWork(events, found, self, doubted: doubted, shortage, substitutes: substitutes)
            defer {
                work.end()
                shortage = work.shortage
            }
            work.begin()
            while true {
                if let plan = try finish(&work) { return plan }
                try work.prepare()
            }
        }
        room.room?.note(plan)
        return plan
    }
}
