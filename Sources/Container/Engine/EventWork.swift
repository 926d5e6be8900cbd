// One event in the engine, from its first plan to its last step.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Has the files and documents of one event until it ends.
struct EventWork: ~Copyable {
    private let events: [Event]
    private let found: [FileAtPlace]
    private let engine: Engine
    private let asked: Asked
    private let looks: FileLooks
    private let doubted: FileID?
    private var held: Subjects = []
    /// Contents that were copied for this event, and what their files looked like.
    private var kept: [Content: Stamp] = [:]
    /// Those that no fact tells of yet, also one whose copy failed.
    private var copied: Set<Content> = []
    /// Contents that are not kept: they are too large, or there is no room for them.
    private var lost: [Content: [VersionNumber]] = [:]
    /// What it has no room for, if it fails.
    private(set) var shortage: Shortage
    /// New files that have got a content.
    private var made: [FileID: VersionRow?] = [:]
    /// Files that were compared by themselves.
    private var compared: Set<FileID> = []
    private var attempts = 0
    /// A plan whose steps are to be done before it can be finished.
    private var unprepared: EventDraft?
    /// What is marked until it ends.
    private var marked: [Mark] = []
    /// What new files get in place of versions whose bytes are gone.
    private let substitutes: [VersionNumber: VersionRow]

    init(
        _ events: [Event], _ found: [FileAtPlace], _ engine: Engine, doubted: FileID? = nil,
        _ shortage: Shortage = Shortage(), substitutes: [VersionNumber: VersionRow] = [:]
    ) {
        (self.events, self.found, self.engine, self.doubted) = (events, found, engine, doubted)
        (self.shortage, self.substitutes) = (shortage, substitutes)
        let handles = events.compactMap { $0.handle.flatMap(engine.scene.handle) }
        let files = found.map(\.file) + handles.map(\.file)
        asked = Asked(
            files, engine.known.documents(of: files), events.compactMap(\.actor) + handles.map(\.actor))
        var isWrite = false
        if events.count == 1, case .write? = events.first { isWrite = true }
        looks = FileLooks(files: engine.parts.files, skipsChanged: isWrite)
    }

    /// Takes what the event is about for certain. It seldom turns out to need more, and one plan is enough then.
    mutating func begin() {
        held = Subjects(files: asked.files, documents: asked.documents)
        engine.subjects.take(held)
    }

    /// Gives the files and documents back.
    mutating func end() {
        dropCopies(except: [])
        for mark in marked { engine.parts.marks.remove(mark) }
        marked = []
        engine.subjects.giveBack(held)
        held = []
    }

    private func draft(_ events: [Event], number: UInt64) throws(Errno) -> Drafting {
        try engine.draft(
            events, found, asked, looks, number: number, doubted: doubted, copied: unkept, lost: Set(lost.keys),
            compared: compared)
    }

    // MARK: Before the names are taken

    /// Takes what the event needs, and does what takes long: it reads facts, keeps contents and makes files.
    mutating func prepare() throws(Errno) {
        attempts += 1
        looks.mayRead = true
        // No program waits for ever, whatever goes wrong.
        guard attempts <= Engine.mostAttempts else { throw .ioError }
        if let draft = unprepared.take() { return try doSteps(of: draft) }
        while true {
            let draft: EventDraft
            let next = engine.known.lastNumber + 1
            switch try self.draft(events, number: next) {
            case .ready(let made): draft = made
            case .missing(let missing):
                try engine.load(missing)
                continue
            case .unsure: continue
            case .unseen(let file):
                // That has files and documents of its own.
                dropCopies(except: [])
                engine.subjects.giveBack(held)
                held = []
                compared.insert(file)
                try engine.noteUnseenChange(of: file)
                continue
            }
            guard draft.subjects.isSubset(of: held) else {
                // Other events may change the files, and keep the same contents.
                dropCopies(except: [])
                engine.subjects.giveBack(held)
                held.formUnion(draft.subjects)
                engine.subjects.take(held)
                continue
            }
            if attempts > Engine.patience || !isUnprepared(draft) { return }
            try doSteps(of: draft)
        }
    }

    private func isUnprepared(_ draft: EventDraft) -> Bool {
        draft.keeping.contains { kept[$0.content] == nil || kept[$0.content] != draft.stamps[$0.content.file] }
            || draft.making.contains { made[$0.file] != .some($0.version) }
    }

    /// Does the steps before the call, as far as they are not done.
    private mutating func doSteps(of draft: EventDraft) throws(Errno) {
        for (content, labels) in draft.keeping {
            let stamp = draft.stamps[content.file]
            if let done = kept[content], done == stamp { continue }
            lost[content] = nil
            if try !keep(content, labels, isDurable: draft.overwrites) { lost[content] = labels.map(\.version.number) }
            kept[content] = stamp
        }
        for (file, version) in draft.making where made[file] != .some(version) {
            try make(file, version)
            made[file] = .some(version)
        }
    }

    /// Contents of which no fact tells that they are kept, or lost.
    private var unkept: Set<Content> { lost.isEmpty ? copied : copied.union(lost.keys) }

    /// - Returns: false if the content is not to be kept.
    private mutating func keep(
        _ content: Content, _ labels: [Label], isDurable: Bool
    ) throws(Errno) -> Bool {
        let (parts, size) = (engine.parts, labels.map(\.version.fingerprint.size).max() ?? 0)
        if shortage.discards, case .unlink(_, _, leavesNothing: true)? = events.first { return false }
        guard shortage.keepsAll || parts.kept.mayKeep(size: size) else { return false }
        let file = try parts.files.open(content.file)
        mark(.content(content))
        copied.insert(content)
        do throws(Errno) {
            try parts.kept.keep(
                copying: file.raw, as: content, engine.withFirstRows(labels), isDurable: isDurable)
            return true
        } catch {
            guard error.isFull else { throw error }
            // What lies beside the labels is little.
            shortage.wanted = parts.kept.room(for: size)
            shortage.isRecord = shortage.wanted <= Self.copiedOnFull
            guard shortage.discards, try mayDiscard(labels) else { throw error }
            engine.room.room?.noteLoss(bytes: size)
            return false
        }
    }

    /// How large a content may be that the ballast is given away for.
    private static let copiedOnFull: UInt64 = 64 << 10

    /// Whether a truncation may do away with a content for which there is no room. One that is pinned, or that may have
    /// to stay as a loser, stays.
    private func mayDiscard(_ labels: [Label]) throws(Errno) -> Bool {
        let versions = labels.map(\.version.number)
        guard let event = events.first, event.isTruncation, engine.room.room?.mayLose(versions) ?? false,
            let document = try engine.document(ofAll: versions)
        else { return false }
        let program = event.truncater ?? event.handle.flatMap { engine.scene.handle($0)?.actor }
        guard let program else { return false }
        return try !engine.isRival(program, in: document)
    }

    /// Takes copies away that were made for a plan that is not carried out. The file goes on in the same content: a
    /// later version with other bytes may be in it, and would be read from the copy. The files are held still.
    private mutating func dropCopies(except needed: [Content]) {
        for content in copied where !needed.contains(content) {
            engine.parts.kept.drop(content)
            kept[content] = nil
        }
        copied.formIntersection(needed)
    }

    private func make(_ id: FileID, _ version: VersionRow?) throws(Errno) {
        guard var version else { return }
        version = substitutes[version.number] ?? version
        let (parts, size) = (engine.parts, version.fingerprint.size)
        if parts.kept.contains(version.content, size: size) {
            // A whole directory comes back file by file, and each content stays where it is kept.
            var isDurable = true
            if case .undelete = events.first { isDurable = false }
            return try parts.kept.copy(version.content, size: size, to: id, isDurable: isDurable)
        }
        try parts.kept.copy(try parts.files.open(version.content.file), size: size, to: id, isDurable: true)
    }

    // MARK: The call

    /// Plans the event with numbers of its own, makes the call, and records what it means.
    /// - Parameter hasNames: whether the names are held: no file is read then, unless there is no end to its changes.
    /// - Returns: nil if something is missing still.
    mutating func finish(
        hasNames: Bool = false, _ call: (inout NameChange) throws(Errno) -> Void
    ) throws(Errno) -> Plan? {
        var count: UInt64 = 64
        looks.mayRead = !hasNames || attempts > Engine.patience
        var isFirst = attempts == 0
        while true {
            let first = engine.parts.recorder.reserve(count)
            defer { engine.parts.recorder.finish(first) }
            let drafting = try self.draft(events, number: first)
            if case .unsure = drafting, !looks.isUnread { continue }
            guard case .ready(let draft) = drafting, draft.subjects.isSubset(of: held) else { return nil }
            if draft.lastNumber >= first + count {
                count = draft.lastNumber - first + 64
                continue
            }
            if isUnprepared(draft) {
                let isQuick = isFirst && !hasNames && mayBeDoneAtOnce(draft)
                isFirst = false
                guard isQuick || attempts > Engine.patience else {
                    unprepared = draft
                    return nil
                }
                try doSteps(of: draft)
                if isQuick, try !isStill(draft) { continue }
            }
            try carryOut(draft, found, from: first, call)
            return draft.plan
        }
    }

    /// Whether the steps of a plan take so little time that its numbers may wait for them: then the plan is made once.
    private func mayBeDoneAtOnce(_ draft: EventDraft) -> Bool {
        !draft.overwrites && draft.making.isEmpty
            && draft.keeping.allSatisfy { content, labels in
                labels.allSatisfy { $0.version.fingerprint.size <= FileLooks.hashedAtOnce }
            }
    }

    /// Whether the files are as the plan has found them. All else is held still.
    private func isStill(_ draft: EventDraft) throws(Errno) -> Bool {
        for (file, stamp) in draft.stamps {
            guard let now = try engine.parts.files.status(of: file), Stamp(now) == stamp else { return false }
        }
        return true
    }

    /// Makes the file of an event, and does the rest with what the file turns out to be.
    /// - Returns: nil if something is missing still. The file is not made then.
    mutating func finish(
        making type: EntryType, _ event: (FileID) -> Event, _ call: () throws(Errno) -> FileID
    ) throws(Errno) -> Plan? {
        looks.mayRead = attempts > Engine.patience
        if let place = events.first?.madePlace, engine.known.isUnused(place) {
            // Nothing comes back there, so there is nothing to be done before.
            mark(.place(place))
        } else {
            guard case .ready(let draft) = try self.draft(events, number: engine.known.lastNumber + 1),
                draft.subjects.isSubset(of: held)
            else { return nil }
            if isUnprepared(draft) {
                guard attempts > Engine.patience else { return nil }
                try doSteps(of: draft)
            }
            for mark in draft.plan.point?.marks ?? [] { self.mark(mark) }
        }
        let file = try call()
        engine.known.begin(file)
        asked.note(file)
        looks.mayRead = true
        var count: UInt64 = 64
        while true {
            let first = engine.parts.recorder.reserve(count)
            defer { engine.parts.recorder.finish(first) }
            switch try self.draft([event(file)], number: first) {
            case .ready(let draft) where draft.lastNumber < first + count:
                let made = draft.plan.point?.madePlace.map { FileAtPlace(place: $0, file: file, type: type) }
                try carryOut(draft, found + [made].compactMap(\.self), from: first) { _ in }
                return draft.plan
            case .ready(let draft): count = draft.lastNumber - first + 64
            case .missing(let missing): try engine.load(missing)
            case .unsure: break
            case .unseen(let other): compared.insert(other)
            }
        }
    }

    private mutating func mark(_ mark: Mark) {
        guard !marked.contains(mark) else { return }
        engine.parts.marks.add(mark)
        marked.append(mark)
    }

    /// - Parameter found: with what the call makes.
    private mutating func carryOut(
        _ draft: EventDraft, _ found: [FileAtPlace], from first: UInt64,
        _ call: (inout NameChange) throws(Errno) -> Void
    ) throws(Errno) {
        let keeping = draft.keeping.map(\.content)
        dropCopies(except: keeping)
        // The facts may have other numbers than in the plan whose steps were done.
        lost = draft.keeping.reduce(into: [:]) { numbers, kept in
            if lost[kept.content] != nil { numbers[kept.content] = kept.labels.map(\.version.number) }
        }
        for mark in draft.plan.point?.marks ?? [] { self.mark(mark) }
        if let whole = draft.whole { mark(.content(whole.content)) }
        var change = NameChange(draft)
        do throws(Errno) { try call(&change) } catch {
            if let refused = draft.refused ?? draft.ifRefused?() {
                lost = [:]
                record(refused, draft, from: first, change.details(of: refused.told, found), [])
                forget(draft.plan.refusal?.after ?? [])
                copied = []
            }
            throw error
        }
        // Of a further name of a file more than this event is known.
        if let file = draft.plan.point?.madeFile, !self.found.contains(where: { $0.file == file }) {
            engine.known.begin(file)
        }
        let stamps = stamps(behind: draft)
        record(
            draft.outcome, draft, from: first, change.details(of: draft.outcome.told, found), change.changes, stamps)
        forget(draft.plan.after)
        copied = []
        if let (content, modified) = draft.touched { engine.parts.kept.setTime(of: content, modified) }
    }

    /// A change of names moves the ctime of its files: the next event is to find them as they are now.
    private func stamps(behind draft: EventDraft) -> [FileID: Stamp] {
        switch draft.plan.point {
        case .rename, .exchange, .link: break
        default: return draft.stamps
        }
        var stamps = draft.stamps
        for (file, former) in stamps {
            let now = try? engine.parts.files.status(of: file).map(Stamp.init)
            if let now, now.size == former.size, now.modified == former.modified { stamps[file] = now }
        }
        return stamps
    }

    /// - Parameter stamps: nil if they are those of the draft.
    private func record(
        _ outcome: EventDraft.Outcome, _ draft: EventDraft, from first: UInt64, _ details: [RowNumber: NameDetail],
        _ changes: [FactChange], _ stamps: [FileID: Stamp]? = nil
    ) {
        engine.known.record(outcome.facts)
        engine.parts.recorder.describe(outcome.facts)
        if !outcome.told.isEmpty || !lost.isEmpty {
            var told = FactTransaction(outcome.told)
            for (row, detail) in details { told.describe(row, detail) }
            told.changes = changes
            if let whole = draft.whole, whole.wasLost {
                told.changes += whole.labels.map { .marks($0.version.number, added: [], removed: .lost) }
            }
            told.lose(lost.values.joined().sorted(), at: engine.parts.clock.now())
            engine.parts.recorder.commit(told, from: first, last: draft.lastNumber)
        }
        engine.labelConflicts(outcome.facts)
        engine.scene.apply(outcome.change, stamps ?? draft.stamps)
        engine.mark(outcome)
    }

    private func forget(_ steps: [Step]) {
        for case .forget(let file) in steps { engine.parts.files.forget(file) }
    }
}
