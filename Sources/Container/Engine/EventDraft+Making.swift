// Gathering a scene and planning an event over it.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension Engine {
    /// Plans the events of one system call over what is known by now.
    ///
    /// - Parameters:
    ///   - found: names of the events, and the files that the request has found there.
    ///   - asked: what earlier plans of the events have asked about; it grows.
    ///   - number: the first of the numbers for its facts.
    ///   - looks: what earlier plans of the events have read.
    ///   - doubted: a file whose bytes are looked at although no time has moved.
    ///   - copied: contents that are copied for the events. They are kept once the events are carried out.
    ///   - lost: those of them that are not kept after all.
    ///   - compared: files that were compared by themselves.
    /// - Throws: ESTALE if one of the names has another file.
    func draft(
        _ events: [Event], _ found: [FileAtPlace], _ asked: Asked, _ looks: FileLooks, number: UInt64,
        doubted: FileID? = nil, copied: Set<Content> = [], lost: Set<Content> = [], compared: Set<FileID> = []
    ) throws(Errno) -> Drafting {
        let (log, count) = (PlanLog(known, next: number), asked.counts.remembered)
        var others = asked.counts.others
        asked.begin(at: number)
        let facts = Facts(over: log)
        var scene = Scene(
            facts: facts, memory: Memory(), now: parts.clock.now(), nextNumber: number, kin: parts.kin(asked.actors),
            quiet: Quiet(parts.quiet(asked.places)))
        let isStale = found.contains { facts.occupant(of: $0.place)?.file != $0.file }
        var (part, stamps) = self.scene.part(about: asked, in: facts)
        if !log.missing.isEmpty { return .missing(log.missing) }
        if isStale { throw Errno(rawValue: ESTALE) }
        // What the looks show is remembered along with what the plan changes.
        let former = part
        scene.memory = part.memory
        let isBlind = part.unknown.isEmpty && doubted == nil && events.allSatisfy { Planning.isBlind($0, in: scene) }
        looks.begin()
        let links = isBlind ? [:] : try look(looks, at: &part, &stamps, facts, doubted, copied)
        if looks.isUnread { return log.missing.isEmpty ? .unsure : .missing(log.missing) }
        let unseen = part.memory.files.first { file in
            file.isChanged && file.holds != nil && part.unknown.contains(file.id) && !compared.contains(file.id)
        }
        if let unseen { return log.missing.isEmpty ? .unseen(unseen.id) : .missing(log.missing) }
        scene.memory = part.memory
        var plan = Planning.plan(all: events, in: scene)
        while case let counts = asked.counts, counts.remembered == count, counts.others > others {
            others = counts.others
            (scene.kin, scene.quiet) = (parts.kin(asked.actors), Quiet(parts.quiet(asked.places)))
            plan = Planning.plan(all: events, in: scene)
        }
        if looks.hasSkipped, !plan.facts.isEmpty || !plan.before.isEmpty { looks.skipsChanged = false }
        if asked.counts.remembered > count || looks.hasSkipped && !looks.skipsChanged {
            return log.missing.isEmpty ? .unsure : .missing(log.missing)
        }
        let outcome = outcome(plan.facts, plan.memory, former, facts)
        // A lazy sequence asks twice, and facts may be missed by the second time.
        let whole = events.compactMap { self.whole($0, plan, part, links, facts) }.first
        // Its facts are asked for now: a plan that misses some is void.
        let refused = plan.refusal.flatMap { refusal in
            refusal.facts.isEmpty ? nil : self.refused(refusal, whole, lost, former, facts)
        }
        if !log.missing.isEmpty { return .missing(log.missing) }
        let subjects = Subjects(files: part.memory.files.map(\.id), documents: asked.documents)
        var draft = EventDraft(
            plan: plan, outcome: outcome, refused: refused, stamps: stamps, subjects: subjects, whole: whole)
        if whole == nil { draft.touched = events.compactMap { touched($0, part, facts) }.first }
        if let refusal = plan.refusal, refused == nil {
            draft.ifRefused = { [self] in self.refused(refusal, whole, lost, former, facts) }
        }
        return .ready(draft)
    }

    /// The facts and the memory that a refused system call leaves.
    private func refused(
        _ refusal: Plan.Refusal, _ whole: WholeContent?, _ lost: Set<Content>, _ former: Remembered.Part,
        _ facts: Facts
    ) -> EventDraft.Outcome {
        let memory = lost.reduce(refusal.memory.without(whole?.content)) { $0.without($1) }
        return outcome(refusal.facts, memory, former, facts)
    }

    private func outcome(
        _ recorded: [Fact], _ memory: Memory, _ part: Remembered.Part, _ facts: Facts
    ) -> EventDraft.Outcome {
        var after = facts
        for fact in recorded { after.apply(fact) }
        var risks = memory.files.map { file in
            (file: file.id, isAtRisk: file.isChanged || memory.handles.contains { $0.file == file.id })
        }
        for file in part.memory.files where !memory.files.contains(where: { $0.id == file.id }) {
            risks.append((file.id, false))
        }
        return EventDraft.Outcome(
            facts: recorded, told: recorded.isEmpty ? [] : facts.feed(of: recorded),
            change: Remembered.change(part, to: memory, recorded, in: after), risks: risks)
    }

    // MARK: Files

    /// Looks at the files of a part, those among them that are not remembered.
    /// - Returns: how many names each of them has below.
    private func look(
        _ looks: FileLooks, at part: inout Remembered.Part, _ stamps: inout [FileID: Stamp], _ facts: Facts,
        _ doubted: FileID?, _ copied: Set<Content>
    ) throws(Errno) -> [FileID: UInt32] {
        var links: [FileID: UInt32] = [:]
        for file in part.unknown { if let known = recalled(file, facts, copied) { part.memory.files.append(known) } }
        part.memory.files.sort { $0.id < $1.id }
        var there: [LiveFile] = []
        for file in part.memory.files {
            let isInDoubt = part.memory.handles.contains { $0.file == file.id && $0.mayOverwriteUnseen }
            let isWritten = part.memory.handles.contains { $0.file == file.id && ($0.isDirty || $0.isUnseen) }
            let held = file.holds.flatMap(facts.fingerprint)
            guard
                let look = try looks.look(
                    at: file, stamps[file.id], held: held, isInDoubt: isInDoubt, isWritten: isWritten,
                    isDoubted: file.id == doubted)
            else { continue }
            var now = look.file
            // Of a file that was not remembered, its bytes tell, too.
            if part.unknown.contains(file.id), !file.isChanged, now.fingerprint == file.fingerprint {
                now.isChanged = false
            }
            there.append(now)
            (stamps[file.id], links[file.id]) = (look.stamp, look.links)
        }
        part.memory.files = there
        return links
    }

    /// What is known of a file that is not remembered: by its document's current version, it is that or has changed.
    func recalled(_ id: FileID, _ facts: Facts, _ copied: Set<Content> = []) -> LiveFile? {
        guard let row = facts.names(of: id).last ?? facts.lastRow(of: id) else { return nil }
        let none = Fingerprint(size: .max, high: 0, low: 0)
        var file = LiveFile(
            id: id, fingerprint: none, modified: Timestamp(nanoseconds: .min), isChanged: true)
        file.generation = facts.lastContent(of: id)?.generation ?? facts.lastNumber << Self.generationShift
        let needed = facts.versions(in: file.content).map(\.fingerprint.size).max() ?? 0
        file.isKept = !copied.contains(file.content) && parts.kept.contains(file.content, size: needed)
        let current = facts.current(of: row.document).flatMap { facts[$0] }
        // A new file holds a version once it is saved. One that comes back, or comes from elsewhere, holds one at once.
        guard current?.file == id || row.how != .created else { return file }
        file.isChanged = false
        guard let current else {
            // A document that was never saved has come back.
            file.fingerprint = .empty
            return file
        }
        file.holds = current.number
        file.fingerprint = current.fingerprint
        file.modified = current.modified
        // Its time alone tells of its own bytes.
        if current.isImage(of: id), let size = (try? parts.files.status(of: id))?.size {
            file.fingerprint = .unknown(size, in: file.content, modified: current.modified)
        }
        return file
    }

    /// A file whose generations are not known begins with one that none of its contents can have: each is named by a
    /// number that was not given when they were.
    static let generationShift: UInt64 = 20

    /// Labels with the first rows of their documents, as far as memory has them: the catalog may not have them yet.
    func withFirstRows(_ labels: [Label]) -> [Label] {
        labels.map { label in
            var label = label
            let first = label.rows.first.map { RowNumber($0.document.number) }
            if let first, label.rows.first?.number != first, let row = known.row(first) { label.rows.append(row) }
            return label
        }
    }
}

extension Memory {
    /// A call that is refused has not kept the file that it was to move away: its content is in the file still.
    fileprivate func without(_ kept: Content?) -> Memory {
        guard let kept, var file = self[kept.file] else { return self }
        var memory = self
        (file.generation, file.isKept) = (kept.generation, false)
        memory[kept.file] = file
        return memory
    }
}
