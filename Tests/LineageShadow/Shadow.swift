// Beside a container that is at work: what the rules of `Lineage` make of the same events (facts.md 10, step 2).

import Container
import Glibc
import Lineage
import VersionModel

/// Follows a container request by request. Before each, the files are looked at, because the rules judge what they were
/// before; behind it, what was heard is planned, and the facts are recorded.
public final class Shadow {
    private let ear: Ear
    public private(set) var facts = Facts()
    public internal(set) var memory = Memory()
    /// What has happened, in the words of the rules.
    public internal(set) var story: [Event] = []
    /// The tree at each moment, with the number of the last fact.
    private(set) var moments: [(number: UInt64, tree: [PlaceNumber: FileID])] = []

    let root: String
    let now: () -> Timestamp
    var nextNumber: UInt64 = 1
    /// The paths at which names went: what the deleted list shows.
    var departures: [RowNumber: String] = [:]
    /// Versions of closes in place, and the programs that had the file open then.
    var shared: [VersionNumber: [ActorNumber]] = [:]
    /// Versions of what no close has saved, made before a call that could take it away.
    var unfinished: Set<VersionNumber> = []
    /// Those of them that their handle's close has acknowledged since, unchanged.
    var acknowledged: [VersionNumber: Acknowledgment] = [:]

    struct Acknowledgment {
        /// The handle's program.
        var program: ActorNumber
        /// The number of the last fact before the close.
        var last: UInt64
    }

    /// Versions of closes by handles whose writes come unseen, so that they may have written.
    var savedUnseen: Set<VersionNumber> = []
    /// What documents' files held that no version has by the rules, because no close has acknowledged it. The numbers
    /// are those of the last fact before that, and by the end of it.
    var passedOver: [DocumentNumber: [Fingerprint: ClosedRange<UInt64>]] = [:]
    /// What versions were before they were amended.
    var formerly: [VersionNumber: Set<Fingerprint>] = [:]
    /// Versions that were amended last by no close.
    var amendedFirst: Set<VersionNumber> = []
    /// What is kept outside the files.
    private(set) var kept: Set<Content> = []
    /// Versions that were made after a kill.
    var settled: Set<VersionNumber> = []
    /// What programs had seen before a kill.
    var seenBefore: [Observation] = []
    /// The number of the last fact before each kill.
    var kills: [UInt64] = []
    var texts = Texts()
    var places: [Place] = []
    var actors: [ActorRef] = []
    var programs: [String] = []
    var kin = Kin()
    var handles: [UInt64: HandleNumber] = [:]
    /// An opening of which is not known yet how it is served.
    var opening: RequestEvent?
    /// The rules' numbers of files. A file that comes back from the deleted area is a new one to them.
    var numbers: [FileID: FileID] = [:]
    private var nextFile: UInt64 = 2
    /// A descriptor of each file, also once it has no name. It keeps no program from a lease: it is none for reading.
    private var held: [FileID: Int32] = [:]

    /// - Parameters:
    ///   - ear: the container's listener.
    ///   - root: the directory beneath the container.
    ///   - now: its clock.
    public init(_ ear: Ear, root: String, now: @escaping () -> Timestamp) {
        self.ear = ear
        self.root = root
        self.now = now
    }

    deinit { for descriptor in held.values { close(descriptor) } }

    /// Makes a request, and follows it.
    public func following<Result>(_ request: () throws -> Result) rethrows -> Result {
        look()
        defer { follow() }
        return try request()
    }

    private func follow() {
        for event in ear.take() {
            translate(event)
            // An opening is planned once it is known how it is served, with what the file held before.
            if opening == nil { look() }
        }
        look()
        moments.append((facts.lastNumber, facts.tree()))
    }

    /// One event: planned, and recorded.
    func perform(_ event: Event) {
        story.append(event)
        let scene = Scene(facts: facts, memory: memory, now: now(), nextNumber: nextNumber, kin: kin)
        let plan = Planning.plan(event, in: scene)
        noteUnsaved()
        let sharers = sharers(of: event)
        let isUnseen =
            if case .close(let number) = event { memory[number].map({ $0.isUnseen && !$0.isDirty }) ?? false } else {
                false
            }
        for case .amend(let version) in plan.facts {
            if event.isClose {
                amendedFirst.remove(version.number)
                if isAtName(version.number, of: version.file) { unfinished.remove(version.number) }
                if !sharers.isEmpty { shared[version.number] = sharers }
            } else {
                amendedFirst.insert(version.number)
                acknowledged[version.number] = nil
            }
        }
        if let (version, program) = acknowledges(event) {
            acknowledged[version] = Acknowledgment(program: program, last: facts.lastNumber)
            if !sharers.isEmpty { shared[version] = sharers }
        }
        let changed = Set(memory.files.filter(\.isChanged).map(\.id))
        let held = memory.files.filter { $0.holds.map(isUnfinished) ?? false }
        for version in record(plan) {
            if !sharers.isEmpty { shared[version.number] = sharers }
            if isUnseen { savedUnseen.insert(version.number) }
            let isSame = held.contains { $0.id == version.file && $0.fingerprint == version.fingerprint }
            if event.takesAway, isSame || changed.contains(version.file) { unfinished.insert(version.number) }
        }
    }

    /// Records what a plan has come to.
    /// - Returns: its versions.
    @discardableResult
    func record(_ plan: Plan) -> [VersionRow] {
        for case .keep(let content, _) in plan.before + plan.after { kept.insert(content) }
        var versions: [VersionRow] = []
        for fact in plan.facts {
            if case .amend(let version) = fact, let former = facts.fingerprint(version.number) {
                formerly[version.number, default: []].insert(former)
            }
            facts.apply(fact)
            if case .row(let row) = fact, row.file == nil { departures[row.number] = path(of: row.place) }
            if case .version(let version) = fact { versions.append(version) }
            guard let version = fact.saved, let document = facts.document(of: version) else { continue }
            passedOver[document]?[version.fingerprint] = nil
        }
        nextNumber = max(nextNumber, facts.lastNumber + 1)
        memory = plan.memory
        return versions
    }

    /// What was heard is forgotten: a mount is no request.
    func dropNews() { _ = ear.take() }

    /// Notes the bytes of files that are no version, for the documents that the files are bound to.
    func noteUnsaved() {
        for file in memory.files where file.isChanged {
            let names = facts.names(of: file.id)
            for row in names.isEmpty ? facts.lastRow(of: file.id).map({ [$0] }) ?? [] : names {
                let last = facts.lastNumber
                let first = passedOver[row.document]?[file.fingerprint]?.lowerBound ?? last
                passedOver[row.document, default: [:]][file.fingerprint] = first...last
            }
        }
    }

    /// The version that a close finds saved by its handle, and as that has left it. The container has it in the
    /// document of the file's name, which may be a copy's by now.
    private func acknowledges(_ event: Event) -> (VersionNumber, ActorNumber)? {
        guard let handle = event.closed.flatMap({ memory[$0] }), let saved = handle.saved, unfinished.contains(saved),
            let file = memory[handle.file], file.holds == saved, !file.isChanged, isAtName(saved, of: file.id)
        else { return nil }
        return (saved, handle.actor)
    }

    /// Whether a version is of what no close has saved, as yet.
    func isUnfinished(_ version: VersionNumber) -> Bool {
        unfinished.contains(version) && acknowledged[version] == nil
    }

    /// Whether a version is of a document that a file's names show, if it has any.
    private func isAtName(_ version: VersionNumber, of file: FileID) -> Bool {
        let documents = facts.names(of: file).map(\.document)
        return documents.isEmpty || documents.contains { $0 == facts.document(of: version) }
    }

    /// The programs that have a file open for writing while a handle of it is closed that shares its save with theirs.
    ///
    /// | the handle | |
    /// |---|---|
    /// | has written inside the file | shares it |
    /// | has appended to the file, which has no name | shares it |
    /// | has emptied the file and written nothing | shares it: the container waits for the release |
    /// | is released | shares it: until then it may have written through a duplicate |
    private func sharers(of event: Event) -> [ActorNumber] {
        guard let number = event.closed, let handle = memory[number], let file = memory[handle.file] else { return [] }
        let isShared =
            if case .release = event {
                handle.isClosed && (!file.fingerprint.isEmpty && handle.mode != .read || handle.mode == .write)
            } else {
                switch handle.mode {
                case .write: true
                case .append: !file.fingerprint.isEmpty && facts.names(of: file.id).isEmpty
                case .replace: file.fingerprint.isEmpty
                case .read: false
                }
            }
        guard isShared else { return [] }
        let others = memory.handles.filter { $0.number != number && $0.file == file.id && $0.mode != .read }
        return others.map(\.actor)
    }

    // MARK: Files

    /// The rules' number of a file.
    func number(_ file: FileID, isNew: Bool = false) -> FileID {
        if file == .root { return file }
        if !isNew, let number = numbers[file] { return number }
        defer { nextFile += 1 }
        numbers[file] = FileID(nextFile)
        return FileID(nextFile)
    }

    /// Keeps a file in reach, which has this name now.
    func hold(_ file: FileID, at place: Place) {
        guard held[file] == nil, let path = path(of: place) else { return }
        let descriptor = open("\(root)/\(path)", Int32(O_NOFOLLOW) | Self.pathOnly | O_CLOEXEC)
        if descriptor >= 0 { held[file] = descriptor }
    }

    private static let pathOnly: Int32 = 0o10000000

    /// What all files hold now.
    public func look() {
        for index in memory.files.indices {
            guard let (bytes, modified) = read(memory.files[index].id) else { continue }
            let fingerprint = texts.fingerprint(bytes)
            let file = memory.files[index]
            guard file.fingerprint != fingerprint || file.modified != modified else { continue }
            memory.files[index].fingerprint = fingerprint
            memory.files[index].modified = modified
            if file.fingerprint != fingerprint { memory.files[index].isChanged = true }
            let former = file.holds.flatMap { facts.fingerprint($0) }
            memory.files[index].beginsWithHeld = former.map { texts.begins(fingerprint, with: $0) } ?? true
        }
    }

    /// The content of a file of the rules.
    func read(_ number: FileID) -> (bytes: [UInt8], modified: Timestamp)? {
        guard let real = numbers.first(where: { $0.value == number })?.key, let descriptor = held[real] else {
            return nil
        }
        let file = open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = pread(file, &bytes, bytes.count, 0)
        let modified = Timestamp(
            nanoseconds: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec))
        return (Array(bytes.prefix(max(0, count))), modified)
    }
}

extension Fact {
    /// The version that the fact makes or amends.
    fileprivate var saved: VersionRow? {
        switch self {
        case .version(let version), .amend(let version): version
        default: nil
        }
    }
}

extension Event {
    /// Whether it may take away what a file holds, or the file its name.
    fileprivate var takesAway: Bool {
        switch self {
        case .rename, .exchange, .unlink, .truncate, .open, .empty: true
        default: false
        }
    }

    fileprivate var isClose: Bool { closed != nil }

    /// The handle that is closed, or released.
    fileprivate var closed: HandleNumber? {
        switch self {
        case .close(let handle), .release(let handle, _): handle
        default: nil
        }
    }
}
