// The rules of DESIGN 5.1, 5.2, 6.1 and 6.3 once more, without a file system: what the product is compared with.

import Foundation

/// Which versions documents have after which operations of which processes. Written from the design, not from the
/// product: observations are a list that is searched from its end, ids are counted, contents are whole texts.
///
/// Left out is time: all operations of one model happen within the shortest window of the rules (15 s).
struct RuleModel: RuleReference {
    enum Kind: String { case current, history, conflict }
    enum Way { case replacing, inPlace, append }

    struct Version {
        var id: Int
        var content: String
        /// The process that saved it; nil if nobody can tell.
        var author: Int?
        var parents: [Int]
        var base: Int?
        var kind: Kind
    }

    struct Item {
        var versions: [Int: Version] = [:]
        var current: Int?
        /// Who saved the current version last; an amended one, who amended it.
        var saver: Int?
        /// The current version was appended to, and nobody has replaced the file since.
        var takesAppends = false
        /// The process that renamed the document to a backup name: it may throw it away.
        var backupOf: Int?
        /// It began as the file of another document, whose name came back, and nobody has saved it since.
        var isParted = false
        /// Who stands where it was before its name came back, and the version that it began as; while that was its only
        /// one.
        var standIn: (item: Int, first: Int)?
        /// The process that was refused, and the version it had not seen.
        var refused: [Int: Int] = [:]
        var name: String

        /// The newest version that both go back to.
        func commonAncestor(_ one: Int, _ other: Int) -> Int? {
            line(of: one).intersection(line(of: other)).filter { versions[$0] != nil }.max()
        }

        /// A version and all that it goes back to.
        func line(of version: Int) -> Set<Int> {
            (versions[version]?.parents ?? []).reduce([version]) { $0.union(line(of: $1)) }
        }
    }

    struct Tombstone {
        var item: Int
        var actor: Int
        var deletion: Int?
    }

    struct Observation {
        var process: Int
        var item: Int
        /// Nil: the process unlinked the name itself, so that it saves what comes next without a base.
        var version: Int?
        var isRead: Bool
    }

    struct Deletion: Equatable {
        var name: String
        var content: String
    }

    let setting: RuleSetting
    /// The ancestors of each living process that count with it, nearest first.
    private(set) var lineages: [Int: [Int]] = [:]
    /// Processes are never forgotten here: who saved a version may have ended.
    private var everyLineage: [Int: [Int]] = [:]
    /// The shells at terminals, which lend only to their own children (decisions/0007).
    private var shells: Set<Int> = []
    private var programs: [Int: String] = [:]

    private(set) var items: [Int: Item] = [:]
    private(set) var names: [String: Int] = [:]
    private(set) var deleted: [Int: Deletion] = [:]
    private var tombstones: [String: Tombstone] = [:]
    private var observations: [Observation] = []
    /// What each process read last: if it writes a backup of that, it read it for that.
    private var lastReads: [Int: (name: String, item: Int)] = [:]
    private var count = 0

    init(_ setting: RuleSetting) { self.setting = setting }

    private mutating func next() -> Int {
        count += 1
        return count
    }

    // MARK: Processes

    mutating func addRoot(_ process: Int, shell: Int, program: String) {
        shells.insert(shell)
        lineages[process] = [shell]
        everyLineage[process] = [shell]
        programs[process] = program
    }

    mutating func spawn(_ child: Int, by parent: Int) {
        lineages[child] = [parent] + (lineages[parent] ?? [])
        everyLineage[child] = lineages[child]
        programs[child] = programs[parent]
    }

    /// A process ends, and its children with it. What it has lent stays lent.
    mutating func end(_ process: Int) {
        lineages = lineages.filter { $0.key != process && !$0.value.contains(process) }
    }

    private func areKin(_ one: Int, _ other: Int) -> Bool {
        one == other || everyLineage[one]?.contains(other) == true || everyLineage[other]?.contains(one) == true
    }

    // MARK: Who has seen what (5.2)

    private mutating func observe(_ process: Int, _ item: Int, _ version: Int?, isRead: Bool = false) {
        observations.append(Observation(process: process, item: item, version: version, isRead: isRead))
    }

    /// base(B).
    func base(_ process: Int, _ item: Int) -> Int? {
        let ofItem = observations.filter { $0.item == item }
        guard let own = ofItem.lastIndex(where: { $0.process == process }) else {
            return lent(to: process, ofItem)?.version ?? inherited(process, ofItem)
        }
        guard ofItem[own].version != nil else { return nil }
        return ofItem.last { $0.version != nil && ($0.process == process || isDescendant($0.process, of: process)) }?
            .version
    }

    private func isDescendant(_ process: Int, of ancestor: Int) -> Bool {
        everyLineage[process]?.contains(ancestor) == true
    }

    private func lent(to process: Int, _ observations: [Observation]) -> Observation? {
        observations.last { $0.version != nil && isDescendant($0.process, of: process) }
    }

    /// The newest lent to the nearest ancestor that was lent something that was read.
    private func inherited(_ process: Int, _ observations: [Observation]) -> Int? {
        for (distance, ancestor) in (everyLineage[process] ?? []).enumerated() {
            if shells.contains(ancestor), distance > 0 { continue }
            let lent = observations.filter { $0.version != nil && isDescendant($0.process, of: ancestor) }
            if lent.contains(where: \.isRead) { return lent.last?.version }
        }
        return nil
    }

    mutating func load(_ process: Int, _ name: String) {
        guard let item = names[name], let current = items[item]?.current else { return }
        observe(process, item, current, isRead: true)
        lastReads[process] = (name, item)
    }

    /// A process creates or empties a file. A read that it copies to a backup is no observation.
    mutating func begin(_ process: Int, _ name: String) {
        guard let read = lastReads[process], Self.isBackup(name, of: read.name),
            let own = observations.lastIndex(where: { $0.process == process && $0.item == read.item }),
            observations[own].isRead
        else { return }
        observations.remove(at: own)
    }

    // MARK: Saves (6.1, 6.3)

    static func isQuiet(_ name: String) -> Bool { name.hasSuffix(".log") }

    /// The base if the process is about to replace what it has not seen.
    private func staleBase(_ process: Int, _ id: Int) -> Int? {
        guard let item = items[id], let current = item.current, !Self.isQuiet(item.name),
            let base = base(process, id), base != current, !item.line(of: base).contains(current)
        else { return nil }
        if let saver = item.saver, areKin(process, saver) { return nil }
        return base
    }

    /// Whether `refuse` answers ESTALE to a call that would replace the document.
    mutating func refuses(_ process: Int, _ name: String) -> Bool {
        guard setting == .refuse, let id = names[name], staleBase(process, id) != nil else { return false }
        let current = items[id]?.current
        items[id]?.refused[process] = current
        return true
    }

    /// The same for a rename of the document to a name that its actor makes up: nothing could be refused afterwards.
    mutating func refusesAway(_ process: Int, _ name: String, to other: String) -> Bool {
        Self.isScaffolding(other, madeBy: program(process)) && refuses(process, name)
    }

    /// Whether it answers that to an unlink (decisions/0008).
    func refusesUnlink(_ process: Int, _ name: String) -> Bool {
        guard setting == .refuse, let item = names[name].flatMap({ items[$0] }) else { return false }
        return item.current != nil && item.refused[process] == item.current
    }

    func content(_ name: String) -> String? {
        guard let item = names[name].flatMap({ items[$0] }), let current = item.current else { return nil }
        return item.versions[current]?.content
    }

    /// Whether a content that would lose is the base's, or that of an unresolved loser.
    private func isLeftOut(_ content: String, of id: Int, besides version: Int?, base: Int) -> Bool {
        items[id]?.versions.values.contains {
            $0.id != version && $0.content == content && ($0.id == base || $0.kind == .conflict)
        } ?? false
    }

    /// A process saves a content to a document that is there.
    mutating func save(_ process: Int, _ id: Int, _ content: String, _ way: Way) {
        guard var item = items[id] else { return }
        defer { if way != .append { items[id]?.takesAppends = false } }
        guard let current = item.current, let old = item.versions[current] else {
            let version = Version(id: next(), content: content, author: process, parents: [], kind: .current)
            return install(version, in: id, by: process, way)
        }
        if old.content == content {
            // A process that was refused, and puts a copy of the content back, has still not seen it.
            if setting != .refuse || item.refused[process] != current { observe(process, id, current) }
            return
        }
        settle(id)
        if way == .append, item.takesAppends, isAppendersOwn(process, item) {
            items[id]?.versions[current]?.content = content
            items[id]?.saver = process
            return observe(process, id, current)
        }
        let base = base(process, id)
        var rival: Int?
        if way == .replacing, let stale = staleBase(process, id),
            !isLeftOut(old.content, of: id, besides: current, base: stale)
        {
            rival = stale
        }
        var parents = [rival ?? current]
        // A loser whose author goes on from it is carried on into this save: it does not stay a loser.
        if way == .replacing, let base, base != current, item.versions[base]?.kind == .conflict {
            item.versions[base]?.kind = .history
            if !parents.contains(base) { parents.append(base) }
        }
        item.versions[current]?.kind = rival == nil ? .history : .conflict
        if let rival { item.versions[current]?.base = rival }
        items[id] = item
        let version = Version(
            id: next(), content: content, author: process, parents: parents, base: base, kind: .current)
        install(version, in: id, by: process, way)
        if rival != nil, setting == .merge { merge(id, mine: version.id, loser: current) }
    }

    /// Appends go into one version if they are of one process, or of one program with one parent.
    private func isAppendersOwn(_ process: Int, _ item: Item) -> Bool {
        guard let saver = item.saver else { return false }
        if process == saver || Self.isQuiet(item.name) { return true }
        let author = item.current.flatMap { item.versions[$0]?.author }
        guard programs[process] == author.flatMap({ programs[$0] }) else { return false }
        return everyLineage[process]?.first == everyLineage[saver]?.first
    }

    private mutating func install(_ version: Version, in id: Int, by process: Int, _ way: Way) {
        items[id]?.versions[version.id] = version
        items[id]?.current = version.id
        items[id]?.saver = process
        items[id]?.takesAppends = way == .append
        items[id]?.isParted = false
        observe(process, id, version.id)
    }

    /// The merged text has no actor, and the saver's base stays its own save.
    private mutating func merge(_ id: Int, mine: Int, loser: Int) {
        guard let item = items[id], let base = item.commonAncestor(mine, loser), let merged = SlotText.merge(
            item.versions[mine]?.content, item.versions[loser]?.content, base: item.versions[base]?.content)
        else { return }
        items[id]?.versions[mine]?.kind = .history
        items[id]?.versions[loser]?.kind = .history
        let version = Version(
            id: next(), content: merged, author: nil, parents: [loser, mine], base: base, kind: .current)
        items[id]?.versions[version.id] = version
        items[id]?.current = version.id
        items[id]?.saver = nil
    }

    /// A save closes on a file whose name another save has taken. What it wrote over was `overwritten`.
    mutating func saveOrphan(_ process: Int, _ id: Int, _ content: String, overwritten: Int?) {
        guard let item = items[id], let current = item.current, item.versions[current]?.content != content,
            overwritten.flatMap({ item.versions[$0] })?.content != content
        else { return }
        let rival = staleBase(process, id).flatMap { isLeftOut(content, of: id, besides: nil, base: $0) ? nil : $0 }
        if let rival, item.versions[rival]?.kind == .conflict { items[id]?.versions[rival]?.kind = .history }
        let parent = rival ?? overwritten
        let version = Version(
            id: next(), content: content, author: process, parents: parent.map { [$0] } ?? [], base: rival,
            kind: rival == nil ? .history : .conflict)
        items[id]?.versions[version.id] = version
        observe(process, id, version.id)
    }

    // MARK: Names and identities (5.1)

    /// A document that was there before anyone looked.
    mutating func adopt(_ name: String, _ content: String) {
        let id = next()
        let version = Version(id: next(), content: content, author: nil, parents: [], kind: .current)
        items[id] = Item(versions: [version.id: version], current: version.id, name: name)
        names[name] = id
    }

    /// A name is created: a new document's, or the one's that had it until just now.
    @discardableResult
    mutating func create(_ process: Int, _ name: String, byRename: Bool = false) -> Int {
        if !byRename { begin(process, name) }
        if let tombstone = tombstones[name] {
            comeBack(tombstone, name, process)
            return tombstone.item
        }
        let id = next()
        items[id] = Item(name: name)
        names[name] = id
        return id
    }

    /// Saved where it is, it is at home there: what comes to a name that it had before is something else.
    mutating func settle(_ id: Int) { tombstones = tombstones.filter { $0.value.item != id } }

    private mutating func comeBack(_ tombstone: Tombstone, _ name: String, _ process: Int) {
        let id = tombstone.item
        if let other = names.first(where: { $0.value == id })?.key { part(id, at: other) }
        for entry in tombstones.values where entry.item == id { if let gone = entry.deletion { deleted[gone] = nil } }
        // A document comes back once: what else it was called on the way is nobody's now.
        tombstones = tombstones.filter { $0.value.item != id }
        items[id]?.name = name
        items[id]?.backupOf = nil
        items[id]?.takesAppends = false
        if let current = items[id]?.current { items[id]?.versions[current]?.kind = .current }
        names[name] = id
        if tombstone.deletion != nil, tombstone.actor == process { observe(process, id, nil) }
    }

    /// What is called `other` now becomes a document of its own, which began as the current version of the item.
    private mutating func part(_ id: Int, at other: String) {
        guard let item = items[id], let current = item.current, let old = item.versions[current] else { return }
        let new = next()
        let first = Version(id: next(), content: old.content, author: old.author, parents: [current], kind: .current)
        items[new] = Item(
            versions: [first.id: first], current: first.id, backupOf: item.backupOf, isParted: true, name: other)
        names[other] = new
        items[id]?.standIn = old.parents.isEmpty ? (new, current) : nil
    }

    /// A rename to a name that is free or another document's. The caller has asked ``refuses(_:_:)``.
    mutating func move(_ process: Int, _ from: String, _ to: String) {
        guard let id = names[from], let content = content(from) else { return }
        if let target = names[to] { return moveOver(process, from, id, to, target, content) }
        if let tombstone = tombstones[to], tombstone.item != id {
            names[from] = nil
            comeBack(tombstone, to, process)
            return moveOver(process, from, id, to, tombstone.item, content)
        }
        names[from] = nil
        names[to] = id
        items[id]?.name = to
        let wasBackup = items[id]?.backupOf != nil
        items[id]?.backupOf = Self.isBackup(to, of: from) ? process : nil
        if tombstones[to] != nil {
            // Home again: it was only away.
            tombstones = tombstones.filter { $0.value.item != id }
        } else if !wasBackup {
            tombstones[from] = Tombstone(item: id, actor: process)
        }
    }

    private mutating func moveOver(
        _ process: Int, _ from: String, _ source: Int, _ to: String, _ target: Int, _ content: String
    ) {
        names[from] = nil
        settle(target)
        let isGone = isScaffolding(source, process, of: target) && !Self.isBackup(to, of: from)
        // What goes without a trace does not come back to the names it had before.
        if isGone { tombstones = tombstones.filter { $0.value.item != source } }
        // A backup is its maker's to throw away: its name comes back to nothing.
        if items[source]?.backupOf == nil, !isGone {
            tombstones[from] = Tombstone(item: source, actor: process)
        }
        save(process, target, content, .replacing)
    }

    /// What had one version only, made among the same processes, was made to be renamed over something. Anything else
    /// has a name that may come back.
    private func isScaffolding(_ id: Int, _ process: Int, of target: Int) -> Bool {
        guard let item = items[id], let saver = item.saver, let current = item.current.flatMap({ item.versions[$0] }),
            item.versions.count == current.parents.count + 1
        else { return false }
        // Or it was renamed there before, and saved once since its name came back.
        let isBack = item.standIn.map { $0.item == target && current.parents == [$0.first] } ?? false
        guard current.parents.isEmpty || isBack else { return false }
        let family = Set([process] + (everyLineage[process] ?? []))
        return !family.isDisjoint(with: [saver] + (everyLineage[saver] ?? []))
    }

    /// Names that programs move a document to before they save it.
    static func isBackup(_ name: String, of original: String) -> Bool { name == original + "~" }

    /// A name is unlinked.
    mutating func unlink(_ process: Int, _ name: String) {
        guard let id = names.removeValue(forKey: name), let item = items[id] else { return }
        if item.isParted, let maker = item.backupOf, areKin(maker, process) {
            tombstones = tombstones.filter { $0.value.item != id }
            return
        }
        let deletion = next()
        deleted[deletion] = Deletion(name: name, content: item.current.flatMap { item.versions[$0]?.content } ?? "")
        tombstones[name] = Tombstone(item: id, actor: process, deletion: deletion)
    }

    /// A program's own scaffolding, which leaves nothing behind.
    static func isScaffolding(_ name: String, madeBy program: String) -> Bool {
        program == "vim" && name.hasSuffix("~")
    }

    func program(_ process: Int) -> String { programs[process] ?? "" }
    var present: [String] { names.keys.sorted() }
    var deletions: [String] { deleted.values.map { "\($0.name): \($0.content.utf8.count)" }.sorted() }

    func contents(everIn name: String) -> [String] {
        names[name].flatMap { items[$0] }.map { $0.versions.values.map(\.content) } ?? []
    }

    func document(_ name: String) -> RuleDocument? {
        guard let item = names[name].flatMap({ items[$0] }) else { return nil }
        var document = RuleDocument(versions: item.versions.values.map { version in
            RuleDocument.Version(
                kind: version.kind.rawValue, content: version.content, author: version.author,
                parents: version.parents.compactMap { item.versions[$0]?.content })
        })
        let losers = item.versions.values.filter { $0.kind == .conflict }
        if let current = item.current, losers.count == 1, let loser = losers.first {
            let base = item.commonAncestor(current, loser.id).flatMap { item.versions[$0]?.content }
            document.bases = base.map { [$0] } ?? []
        }
        return document
    }

    func hasTombstone(_ name: String) -> Bool { tombstones[name] != nil }
}

/// Texts of a few independent lines, which can be merged one by one.
enum SlotText {
    private static let gap = "=\n=\n=\n"

    static func text(_ slots: [String]) -> String { slots.map { $0 + "\n" }.joined(separator: gap) }

    static func slots(_ text: String) -> [String] {
        text.components(separatedBy: gap).map { $0.trimmingCharacters(in: .newlines) }
    }

    /// Three ways; nil where two have changed one slot differently.
    static func merge(_ mine: String?, _ other: String?, base: String?) -> String? {
        guard let mine = mine.map(slots), let other = other.map(slots), let base = base.map(slots),
            mine.count == base.count, other.count == base.count
        else { return nil }
        var merged: [String] = []
        for index in base.indices {
            if mine[index] == other[index] || other[index] == base[index] {
                merged.append(mine[index])
            } else if mine[index] == base[index] {
                merged.append(other[index])
            } else {
                return nil
            }
        }
        return text(merged)
    }
}
