import VersionModel

/// All that the daemon remembers, found by keys, so that a scene has only what its plan asks for (``Asked``).
public struct Remembered: Sendable {
    private var files: [FileID: LiveFile] = [:]
    private var handles: [HandleNumber: Handle] = [:]
    /// In the order of their numbers.
    private var handlesOf: [FileID: [HandleNumber]] = [:]
    /// The open files, by the documents of which they have or had a name; and the same the other way round.
    private var filesOf: [DocumentNumber: [FileID]] = [:]
    private var documentsOf: [FileID: [DocumentNumber]] = [:]
    private var holders: [VersionNumber: [FileID]] = [:]
    private var savers: [VersionNumber: [HandleNumber]] = [:]
    /// By the documents of the versions, whatever document a version was seen as.
    private var observations: [DocumentNumber: Seen] = [:]
    private var lastOrder: UInt64 = 0

    public init() {}

    public subscript(_ file: FileID) -> LiveFile? {
        get { files[file] }
        set { setFile(file, newValue) }
    }

    public var countOfFiles: Int { files.count }

    /// Whether a program is remembered to have seen a version of a document.
    public func hasSeen(_ document: DocumentNumber) -> Bool { observations[document] != nil }

    /// Whether a handle goes on with a version that it has saved.
    public func hasSaver(of version: VersionNumber) -> Bool { savers[version] != nil }

    public subscript(_ handle: HandleNumber) -> Handle? { handles[handle] }

    /// The process that has a handle runs another program by now.
    public mutating func give(_ handle: HandleNumber, to actor: ActorNumber) { handles[handle]?.actor = actor }

    /// The handles of a file, in the order in which they were opened.
    public func handles(of file: FileID) -> [Handle] { (handlesOf[file] ?? []).compactMap { handles[$0] } }

    /// The files that have handles.
    public var openFiles: Set<FileID> { Set(handlesOf.keys) }

    /// Everything, in an order that does not depend on the run.
    public var whole: Memory {
        var memory = Memory()
        memory.files = files.values.sorted { $0.id < $1.id }
        memory.handles = handles.values.sorted { $0.number < $1.number }
        memory.observations = Seen(observations.map { ($0.key, $0.value) }).observations
        return memory
    }

    /// Forgets files that no program has open and that are as they were recorded: facts tell what such a file holds.
    public mutating func forgetIdleFiles() {
        for file in files.values where handlesOf[file.id] == nil && !file.isChanged { setFile(file.id, nil) }
    }

    /// How many documents anything is remembered of that programs have seen.
    public var countOfSeen: Int { observations.count }

    /// Forgets what programs have seen that have ended, as far as it counts for no other.
    public mutating func forgetEnded(_ audiences: Audiences) {
        let actors = observations.values.reduce(into: Set<ActorNumber>()) { $0.formUnion($1.actors) }
        let found = self.audiences(of: actors, audiences)
        for home in observations.keys {
            observations[home]?.thin(found)
            if observations[home]?.isEmpty ?? false { observations[home] = nil }
        }
    }

    // MARK: Scenes

    /// What a scene has about some subjects.
    public struct Part: Sendable {
        public var memory: Memory
        /// Files that were asked about and are not remembered. The engine looks at those that there are.
        public var unknown: [FileID]
        fileprivate var seen: Seen
    }

    /// The files, documents and versions that a plan has asked about.
    public func part(about asked: Asked, in facts: Facts) -> Part {
        var wanted = asked.files
        for document in asked.documents {
            wanted += facts.files(of: document) + (filesOf[document] ?? [])
        }
        for version in asked.versions {
            wanted += (holders[version] ?? []) + (savers[version] ?? []).compactMap { handles[$0]?.file }
        }
        var (memory, unknown) = (Memory(), [FileID]())
        wanted.sort()
        var last: FileID?
        for file in wanted where file != last {
            last = file
            if let live = files[file] { memory.files.append(live) } else { unknown.append(file) }
            memory.handles += handles(of: file)
        }
        if memory.handles.count > 1 { memory.handles.sort { $0.number < $1.number } }
        let seen = seen(in: asked.documents, facts)
        memory.observations = seen.observations
        memory.asked = asked
        return Part(memory: memory, unknown: unknown, seen: seen)
    }

    /// What programs have seen of the histories of documents, oldest first.
    private func seen(in documents: [DocumentNumber], _ facts: Facts) -> Seen {
        var wanted: [DocumentNumber] = []
        for document in documents {
            var next: DocumentNumber? = document
            while let document = next, !wanted.contains(document) {
                wanted.append(document)
                next = facts.origin(of: document).flatMap { facts.document(of: $0) }
            }
        }
        return Seen(wanted.compactMap { home in observations[home].map { (home, $0) } })
    }

    // MARK: Changes

    /// What a plan makes of its part.
    public struct Change: Sendable {
        fileprivate var files: [LiveFile] = []
        fileprivate var goneFiles: [FileID] = []
        fileprivate var handles: [Handle] = []
        fileprivate var goneHandles: [Handle] = []
        /// Documents of which files with handles have names from now on.
        fileprivate var bound: [(file: FileID, document: DocumentNumber)] = []
        fileprivate var unseen: [Seen.Place] = []
        /// What was seen of versions that are gone is of others now.
        fileprivate var moved: [(former: Seen.Place, home: DocumentNumber, observation: Observation)] = []
        fileprivate var seen: [(home: DocumentNumber, observation: Observation)] = []
    }

    /// What changes by a plan.
    ///
    /// - Parameters:
    ///   - part: what its scene had.
    ///   - memory: what is remembered afterwards.
    ///   - recorded: what the plan has recorded.
    ///   - facts: the facts with those.
    public static func change(_ part: Part, to memory: Memory, _ recorded: [Fact], in facts: Facts) -> Change {
        var change = Change()
        let former = part.memory
        change.files = memory.files.filter { !former.files.contains($0) }
        change.goneFiles = former.files.map(\.id).filter { id in !memory.files.contains { $0.id == id } }
        change.handles = memory.handles.filter { !former.handles.contains($0) }
        change.goneHandles = former.handles.filter { one in !memory.handles.contains { $0.number == one.number } }
        for handle in change.handles where !former.handles.contains(where: { $0.number == handle.number }) {
            let rows = facts.names(of: handle.file) + (facts.lastRow(of: handle.file).map { [$0] } ?? [])
            change.bound += rows.map { (handle.file, $0.document) }
        }
        for case .row(let row) in recorded {
            if let file = row.file { change.bound.append((file, row.document)) }
        }
        change.note(part.seen, memory.observations, facts)
        return change
    }

    /// - Parameter audiences: asked for where a document has many observations.
    public mutating func apply(_ change: Change, audiences: Audiences = { _ in [:] }) {
        for handle in change.goneHandles { setHandle(handle.number, nil) }
        for file in change.goneFiles { setFile(file, nil) }
        for file in change.files { setFile(file.id, file) }
        for handle in change.handles { setHandle(handle.number, handle) }
        for (file, document) in change.bound where handlesOf[file] != nil { bind(file, to: document) }
        for place in change.unseen { remove(place) }
        for (former, home, observation) in change.moved {
            remove(former)
            observations[home, default: Seen()].append(observation, order: former.order)
        }
        for (home, observation) in change.seen { append(observation, of: home, audiences) }
    }

    private mutating func append(_ observation: Observation, of home: DocumentNumber, _ audiences: Audiences) {
        lastOrder += 1
        observations[home, default: Seen()].append(observation, order: lastOrder)
        guard let seen = observations[home], seen.isLong else { return }
        let found = self.audiences(of: seen.actors, audiences)
        observations[home]?.thin(found)
    }

    /// The audiences of programs. One that has a file open may save, also if it has ended: its release is to come.
    private func audiences(of actors: Set<ActorNumber>, _ audiences: Audiences) -> [ActorNumber: Audience] {
        var found = audiences(Array(actors))
        for handle in handles.values { found[handle.actor]?.mayAct = true }
        return found
    }

    private mutating func remove(_ place: Seen.Place) {
        observations[place.home]?.remove(order: place.order)
        if observations[place.home]?.isEmpty ?? false { observations[place.home] = nil }
    }

    /// A program has read a version (``Event/read(_:_:)``): there is no more to that than this.
    ///
    /// - Parameters:
    ///   - home: the document of the version.
    ///   - document: the one that it was seen as.
    ///   - isRead: whether that matters to any other program.
    ///   - audiences: asked for where a document has many observations.
    public mutating func noteRead(
        by actor: ActorNumber, of version: VersionNumber, of home: DocumentNumber, as document: DocumentNumber,
        at time: Timestamp, isRead: Bool, audiences: Audiences = { _ in [:] }
    ) {
        var observation = Observation(actor: actor, version: version, document: document, time: time)
        (observation.isRead, observation.isByRead) = (isRead, true)
        if let known = observations[home]?.removeLast(of: observation) {
            (observation.isRead, observation.hadRead) = (isRead || known.isRead, known.isRead)
        }
        append(observation, of: home, audiences)
    }

    /// Takes a handle away, if its file has no other.
    /// - Returns: whether that was so.
    public mutating func removeLast(_ handle: HandleNumber) -> Bool {
        guard let file = handles[handle]?.file, let all = handlesOf[file], all.count == 1, all.first == handle else {
            return false
        }
        setHandle(handle, nil)
        return true
    }

    private mutating func setFile(_ id: FileID, _ file: LiveFile?) {
        let former = files[id]?.holds
        files[id] = file
        guard former != file?.holds else { return }
        if let former { holders.remove(id, of: former) }
        if let held = file?.holds { holders[held, default: []].append(id) }
    }

    private mutating func setHandle(_ number: HandleNumber, _ handle: Handle?) {
        let former = handles[number]
        handles[number] = handle
        if former?.saved != handle?.saved {
            if let saved = former?.saved { savers.remove(number, of: saved) }
            if let saved = handle?.saved { savers[saved, default: []].append(number) }
        }
        if former == nil, let handle {
            handlesOf[handle.file, default: []].append(number)
        } else if let former, handle == nil {
            handlesOf.remove(number, of: former.file)
            if handlesOf[former.file] == nil { unbind(former.file) }
        }
    }

    // MARK: Documents of open files

    private mutating func bind(_ file: FileID, to document: DocumentNumber) {
        guard !(documentsOf[file]?.contains(document) ?? false) else { return }
        documentsOf[file, default: []].append(document)
        filesOf[document, default: []].append(file)
    }

    private mutating func unbind(_ file: FileID) {
        for document in documentsOf.removeValue(forKey: file) ?? [] { filesOf.remove(file, of: document) }
    }
}

extension Remembered.Change {
    /// A plan takes observations away, and puts new ones behind the others; or it gives some of them other versions.
    fileprivate mutating func note(_ former: Seen, _ present: [Observation], _ facts: Facts) {
        if former.isUnchanged(as: present) { return }
        func home(_ observation: Observation) -> DocumentNumber {
            observation.version.flatMap { facts.document(of: $0) } ?? observation.document
        }
        let known = former.observations
        if known.count == present.count, zip(known, present).allSatisfy({ $0.isSameLook(as: $1) }) {
            for index in known.indices where known[index] != present[index] {
                moved.append((former.place(at: index), home(present[index]), present[index]))
            }
            return
        }
        var rest = known[...]
        for observation in present {
            if seen.isEmpty, let index = rest.firstIndex(of: observation) {
                unseen += rest[..<index].indices.map(former.place)
                rest = rest[(index + 1)...]
            } else {
                seen.append((home(observation), observation))
            }
        }
        unseen += rest.indices.map(former.place)
    }
}

extension Observation {
    /// Whether a program has looked at one document once, whatever it has seen.
    fileprivate func isSameLook(as other: Observation) -> Bool {
        actor == other.actor && document == other.document && time == other.time
    }
}

extension Dictionary {
    /// Takes one of several values of a key away; the last one takes the key along.
    fileprivate mutating func remove<Element: Equatable>(_ element: Element, of key: Key) where Value == [Element] {
        guard let index = index(forKey: key) else { return }
        // Most have one value alone.
        if values[index].count == 1, values[index].first == element {
            remove(at: index)
            return
        }
        values[index].removeAll { $0 == element }
        if values[index].isEmpty { remove(at: index) }
    }
}
