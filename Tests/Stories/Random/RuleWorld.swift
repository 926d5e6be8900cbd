// The rules of `Lineage` over a directory that is only in memory: what a mount of the engine is compared with.

import Lineage
import VersionModel

/// Carries out system calls by plans: the facts are recorded, and contents are texts.
///
/// A plan takes what the engine gathers for it as given: how the programs are related, which names they make up, which
/// reads are for a backup. So a difference is a fault of what the engine gathers, performs, stores or shows.
struct RuleWorld: RuleReference {
    let setting: RuleSetting
    private(set) var lineages: [Int: [Int]] = [:]
    private var programs: [Int: String] = [:]

    private(set) var facts = Facts()
    private var memory = Memory()
    private var kin: [Kin.Relation] = []
    private var shells: Set<Int> = []
    private var places: [String: PlaceNumber] = [:]
    /// What files hold.
    private var contents: [FileID: String] = [:]
    private var texts: [Fingerprint: String] = [.empty: ""]
    /// The time of the last event. It follows the clock, for names that come back within a time.
    private var milliseconds: Int64 = 0
    private let began = ContinuousClock.now
    private var nextNumber: UInt64 = 1
    private var nextFile: UInt64 = 2
    private var nextHandle: UInt32 = 0

    /// What each process has read last.
    private var lastReads: [Int: (name: String, file: FileID)] = [:]
    private struct Watched: Hashable {
        var file: FileID
        var name: String
    }

    /// What processes were refused to replace, by the versions that they have not seen.
    private var refused: [VersionNumber: [Int: Watched]] = [:]
    /// How often a process has read what it was refused to replace, since that.
    private var readsSince: [Int: [Watched: Int]] = [:]

    init(_ setting: RuleSetting) { self.setting = setting }

    // MARK: Processes

    mutating func addRoot(_ process: Int, shell: Int, program: String) {
        shells.insert(shell)
        add(process, [shell], program)
    }

    mutating func spawn(_ child: Int, by parent: Int) {
        add(child, [parent] + (lineages[parent] ?? []), program(parent))
    }

    private mutating func add(_ process: Int, _ lineage: [Int], _ program: String) {
        lineages[process] = lineage
        programs[process] = program
        kin.append(
            Kin.Relation(
                actor: Self.actor(process), lineage: lineage.map(Self.actor),
                program: RulePlayer.programs.firstIndex(of: program).map { UInt32($0) },
                endsAtTerminal: lineage.last.map(shells.contains) ?? false))
    }

    mutating func end(_ process: Int) {
        lineages = lineages.filter { $0.key != process && !$0.value.contains(process) }
    }

    func program(_ process: Int) -> String { programs[process] ?? "" }

    /// Shells have negative numbers.
    static func actor(_ process: Int) -> ActorNumber { ActorNumber(UInt32(process < 0 ? 1000 - process : process)) }

    // MARK: What there is

    private static func place(_ index: Int) -> PlaceNumber { PlaceNumber(UInt32(index) + 8) }

    mutating func place(_ name: String) -> PlaceNumber {
        if let place = places[name] { return place }
        let place = Self.place(places.count)
        places[name] = place
        return place
    }

    private func occupant(_ name: String) -> NameRow? {
        places[name].flatMap { facts.occupant(of: $0) }.flatMap { $0.file == nil ? nil : $0 }
    }

    var present: [String] { places.keys.filter { occupant($0) != nil }.sorted() }

    func content(_ name: String) -> String? { occupant(name)?.file.flatMap { contents[$0] } }

    /// What a document was saved as last. Its file may hold bytes that no close has acknowledged.
    func saved(_ name: String) -> String? {
        occupant(name).flatMap { facts.current(of: $0.document) }.flatMap { facts[$0] }.map(text)
    }

    func contents(everIn name: String) -> [String] {
        occupant(name).map { facts.versions(of: $0.document).map(text) } ?? []
    }

    func text(_ version: VersionRow) -> String { texts[version.fingerprint] ?? "?" }

    func document(_ name: String) -> RuleDocument? {
        guard let document = occupant(name)?.document else { return nil }
        let (current, conflicts) = (facts.current(of: document), facts.conflicts(of: document))
        let listed = facts.listing(of: document)
        var shown = RuleDocument(versions: listed.compactMap { facts[$0] }.map { version in
            let kind = conflicts.contains(version.number) ? "conflict" : "history"
            return RuleDocument.Version(
                kind: version.number == current ? "current" : kind, content: text(version),
                author: version.author.map { Int($0.number) },
                parents: facts.ancestors(of: version).filter(listed.contains).compactMap { facts[$0] }.map(text))
        })
        if let current, conflicts.count == 1, let loser = conflicts.first {
            shown.bases = bases(current, loser, in: listed).compactMap { facts[$0] }.map(text)
        }
        return shown
    }

    /// The nearest versions of a list that both go back to; none if one of them may be missing (``MergeBase``).
    private func bases(
        _ one: VersionNumber, _ other: VersionNumber, in listed: [VersionNumber]
    ) -> [VersionNumber] {
        func parents(_ version: VersionNumber) -> [VersionNumber] {
            listed.contains(version) ? facts[version].map(facts.ancestors) ?? [] : []
        }
        func line(_ version: VersionNumber) -> Set<VersionNumber> {
            parents(version).reduce([version]) { $0.union(line($1)) }
        }
        let shared = line(one).intersection(line(other))
        let nearest = shared.subtracting(shared.flatMap(parents))
        return nearest.isSubset(of: listed) ? nearest.sorted() : []
    }

    var deletions: [String] {
        let names = Dictionary(uniqueKeysWithValues: places.map { ($0.value, $0.key) })
        let entries = facts.deleted() + facts.removedNames() + facts.rows.compactMap(facts.replacement)
        return entries.map { entry in
            let content = facts.current(of: entry.occupant.document).flatMap { facts[$0] }.map(text) ?? ""
            return "\(names[entry.departure.place] ?? "?"): \(content.utf8.count)"
        }.sorted()
    }

    /// The newest version that both go back to.
    private func commonAncestor(_ one: VersionNumber, _ other: VersionNumber) -> VersionNumber? {
        func line(_ version: VersionNumber) -> Set<VersionNumber> {
            let parents = facts[version]?.parents
            return [parents?.first, parents?.second].compactMap { $0 }.reduce([version]) { $0.union(line($1)) }
        }
        return line(one).intersection(line(other)).max()
    }

    // MARK: Events

    mutating func newFile() -> FileID {
        nextFile += 1
        return FileID(nextFile)
    }

    mutating func newHandle() -> HandleNumber {
        nextHandle += 1
        return HandleNumber(nextHandle)
    }

    func file(_ handle: HandleNumber) -> FileID? { memory[handle]?.file }
    func file(_ name: String) -> FileID? { occupant(name)?.file }
    func text(in file: FileID) -> String { contents[file] ?? "" }

    private var now: Timestamp { Timestamp(nanoseconds: milliseconds * 1_000_000) }

    private var scene: Scene {
        let quiet = places.filter { $0.key.hasSuffix(".log") }.map(\.value)
        return Scene(
            facts: facts, memory: memory, now: now, nextNumber: nextNumber, kin: Kin(kin), quiet: Quiet(quiet))
    }

    mutating func adopt(_ name: String, _ content: String) {
        let (place, file) = (place(name), newFile())
        contents[file] = content
        let names = facts.tree().sorted { $0.key < $1.key } + [(key: place, value: file)]
        let files = names.map {
            Found.File(id: $0.value, fingerprint: fingerprint(text(in: $0.value)), modified: now)
        }
        let found = Found(
            names: names.map { Found.Name(place: $0.key, file: $0.value) }, directories: [], files: files, objects: [],
            begins: { $0.fingerprint == $1 })
        record(Settling.settle(scene, found, crashed: now))
        milliseconds += 60_000
    }

    /// One event.
    /// - Parameter change: what the system call does to the contents of files.
    mutating func perform(_ event: Event, change: (inout Self) -> Void = { _ in }) {
        milliseconds = max(milliseconds + 1, 120_000 + Int64((.now - began) / .milliseconds(1)))
        let plan = Planning.plan(event, in: scene)
        for case .make(let file, let version) in plan.before { contents[file] = version.map(text) ?? "" }
        record(plan)
        change(&self)
        look()
        guard setting == .merge else { return }
        for case .version(let saved) in plan.facts where saved.beside == .no {
            if let loser = saved.loser { merge(saved, loser) }
        }
    }

    mutating func write(_ text: String, in file: FileID) { contents[file] = text }

    private mutating func record(_ plan: Plan) {
        for fact in plan.facts { facts.apply(fact) }
        nextNumber = max(nextNumber, facts.lastNumber + 1)
        memory = plan.memory
    }

    /// The daemon looks at the files before it plans.
    private mutating func look() {
        for index in memory.files.indices {
            guard let text = contents[memory.files[index].id] else { continue }
            let fingerprint = fingerprint(text)
            guard fingerprint != memory.files[index].fingerprint else { continue }
            memory.files[index].fingerprint = fingerprint
            memory.files[index].modified = now
            memory.files[index].isChanged = true
            let held = memory.files[index].holds.flatMap { facts[$0] }
            memory.files[index].beginsWithHeld = held.map { text.hasPrefix(self.text($0)) } ?? true
        }
    }

    private mutating func fingerprint(_ text: String) -> Fingerprint {
        if text.isEmpty { return .empty }
        var (high, low): (UInt64, UInt64) = (14_695_981_039_346_656_037, 5381)
        for byte in text.utf8 {
            high = (high ^ UInt64(byte)) &* 1_099_511_628_211
            low = low &* 33 &+ UInt64(byte)
        }
        let fingerprint = Fingerprint(size: UInt64(text.utf8.count), high: high, low: low)
        texts[fingerprint] = text
        return fingerprint
    }

    private mutating func merge(_ saved: VersionRow, _ loser: VersionNumber) {
        guard let row = facts[saved.row], let other = facts[loser],
            let base = commonAncestor(saved.number, loser).flatMap({ facts[$0] }), !base.isForgotten,
            let merged = SlotText.merge(text(saved), text(other), base: text(base))
        else { return }
        let file = newFile()
        contents[file] = merged
        perform(
            .merge(row.place, Merged(
                by: nil, in: file, fingerprint(merged), modified: now, of: loser, and: saved.number)))
    }

    // MARK: Reads for a backup, and refusals

    mutating func noteRead(_ process: Int, _ name: String) {
        guard let file = file(name) else { return }
        lastReads[process] = (name, file)
        count(1, process, name, file)
    }

    private mutating func count(_ looks: Int, _ process: Int, _ name: String, _ file: FileID) {
        for seen in readsSince[process]?.keys.filter({ $0.file == file || $0.name == name }) ?? [] {
            readsSince[process]?[seen]? += looks
        }
    }

    /// A process creates or empties a file: what it has read last may have been to copy it there.
    mutating func begin(_ process: Int, _ name: String) {
        guard let read = lastReads[process], name == read.name + "~" else { return }
        lastReads[process] = nil
        count(-1, process, read.name, read.file)
        perform(.readForBackup(Self.actor(process), place(read.name)))
    }

    /// Whether `refuse` answers ESTALE to a call that would replace the document.
    mutating func refuses(_ process: Int, _ name: String) -> Bool {
        guard setting == .refuse, let replaced = replaced(process, name) else { return false }
        guard replaced.isStale || isRefused(process, replaced) else { return false }
        let document = Watched(file: replaced.file, name: name)
        refused[replaced.version.number, default: [:]][process] = document
        readsSince[process, default: [:]][document] = 0
        return true
    }

    /// Whether it answers that to an unlink (decisions/0008).
    func refusesUnlink(_ process: Int, _ name: String) -> Bool {
        guard setting == .refuse, let replaced = replaced(process, name) else { return false }
        return isRefused(process, replaced)
    }

    private func replaced(_ process: Int, _ name: String) -> Planning.Replaced? {
        places[name].flatMap { Planning(scene).replaced(by: Self.actor(process), at: $0) }
    }

    private func isRefused(_ process: Int, _ replaced: Planning.Replaced) -> Bool {
        guard let document = refused[replaced.version.number]?[process] else { return false }
        return readsSince[process]?[document].map { $0 <= 0 } ?? false
    }
}
