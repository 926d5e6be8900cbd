import VersionModel

/// A plan in the making: the scene as it is once the steps so far are done.
///
/// Each kind of event is one function in an extension beside this file, named like the event; the rules that they share
/// are further extensions, one for each section of facts.md.
public struct Planning: Sendable {
    var facts: Facts
    var memory: Memory
    let now: Timestamp
    let kin: Kin
    let quiet: Quiet
    private(set) var nextNumber: UInt64
    private(set) var before: [Step] = []
    private(set) var point: SystemCall?
    private(set) var recorded: [Fact] = []
    private(set) var after: [Step] = []
    private var refusal: Plan.Refusal?
    /// Whether steps come behind the transaction from here on.
    private var isBehindPoint = false
    private var isSettling = false

    public init(_ scene: Scene) {
        facts = scene.facts
        memory = scene.memory
        now = scene.now
        var kin = scene.kin
        kin.asked = scene.memory.asked
        self.kin = kin
        var quiet = scene.quiet
        quiet.asked = scene.memory.asked
        self.quiet = quiet
        nextNumber = scene.nextNumber
    }

    /// What one event does. An event that does not fit the scene (a place without a file) does nothing.
    public static func plan(_ event: Event, in scene: Scene) -> Plan {
        var planned = planning(event, in: scene, keeping: [], isSaving: false)
        var files: [FileID] = []
        // The second round keeps a content that is a version by the event itself: its bytes become one before that.
        for isSaving in [false, true] {
            let late = planned.keptLate
            if late.isEmpty { break }
            files += late.filter { !files.contains($0) }
            planned = planning(event, in: scene, keeping: files, isSaving: isSaving)
        }
        return planned.result
    }

    /// - Parameters:
    ///   - files: files whose contents are kept first, because the call leaves them to writers whose writes come
    ///     unseen. That is known once the call is planned; behind it a content could be overwritten already.
    ///   - isSaving: whether unsaved bytes become a version before that.
    private static func planning(
        _ event: Event, in scene: Scene, keeping files: [FileID], isSaving: Bool
    ) -> Planning {
        var planning = Planning(scene)
        for file in files { planning.keepFirst(file, isSaving: isSaving) }
        // A version that was made by that may have taken another's place, and is before the call, too.
        if !files.isEmpty { planning.guardUnseenWriters() }
        planning.carryOut(event)
        planning.guardUnseenWriters()
        planning.forgetFilesWithoutNames()
        return planning
    }

    /// The files whose contents are kept behind the system call.
    private var keptLate: [FileID] {
        after.compactMap { step in
            if case .keep(let content, _) = step { return content.file }
            return nil
        }
    }

    var result: Plan {
        var plan = Plan(memory: memory)
        (plan.before, plan.point, plan.facts, plan.after) = (before, point, recorded, after)
        plan.refusal = refusal
        return plan
    }

    private mutating func carryOut(_ event: Event) {
        switch event {
        case .create(let actor, let place, let file, let handle, let mode, let isMadeUp, let isUnseen):
            create(actor, place, file, handle, mode, isMadeUp: isMadeUp, isUnseen: isUnseen)
        case .open(let actor, let place, let handle, let mode, let isUnseen):
            open(actor, place, handle, mode, isUnseen: isUnseen)
        case .openNameless(let actor, let file, let handle, let mode, let isUnseen):
            openNameless(actor, file, handle, mode, isUnseen: isUnseen)
        case .read(let actor, let place): read(actor, place)
        case .readForBackup(let actor, let place): readForBackup(actor, place)
        case .write(let handle, let isInside): write(handle, isInside: isInside)
        case .empty(let handle): empty(handle)
        case .shorten(let handle): shorten(handle)
        case .close(let handle): close(handle)
        case .seal(let handle, let goesOn): seal(handle, goesOn: goesOn)
        case .release(let handle, let isLater): release(handle, isLater: isLater)
        case .truncate(let actor, let place): truncate(actor, place)
        case .save(let actor, let place): save(actor, place)
        case .rename(let actor, let from, let to, let isMadeUp): rename(actor, from: from, to: to, isMadeUp: isMadeUp)
        case .exchange(let actor, let one, let other): exchange(actor, one, other)
        case .link(let actor, let from, let to): link(actor, from: from, to: to)
        case .unlink(let actor, let place, let leavesNothing): unlink(actor, place, leavesNothing: leavesNothing)
        case .makeDirectory(let actor, let place, let file): makeDirectory(actor, place, file)
        case .removeDirectory(let actor, let place): removeDirectory(actor, place)
        case .undelete(let actor, let row, let place, let file, let takesFormer):
            undelete(actor, row, place, file, takesFormer: takesFormer)
        case .pin(let version): pin(version)
        case .purge(let row): purge(row)
        case .restore(let actor, let place, let version, let file, let losers):
            restore(actor, place, version, file, settling: losers)
        case .merge(let place, let merged): merge(place, merged)
        case .put(let actor, let place, let file, let version): put(actor, place, file, version)
        case .add(let place, let added): add(place, added)
        case .capture(let place, let captured): capture(place, captured)
        case .resolve(let document, let losers): resolve(document, losers)
        case .drop(let document, let versions, let sparesBases):
            drop(versions, of: document, sparesBases: sparesBases)
        }
    }

    // MARK: What a plan is made of

    /// A step: before the system call, or behind the transaction if the call is past. An event without a call keeps
    /// contents before its transaction.
    mutating func perform(_ step: Step) {
        var isLast = isBehindPoint
        if case .keep = step, point == nil, !isSettling { isLast = false }
        if isLast { after.append(step) } else { before.append(step) }
    }

    /// After a crash all steps come behind the transaction: they may be interrupted, and are found again.
    mutating func settle() {
        isBehindPoint = true
        isSettling = true
    }

    /// The system call; nil if the event has none that could be refused.
    mutating func pass(_ call: SystemCall?) {
        if call != nil { refusal = refused() }
        point = call
        isBehindPoint = true
    }

    /// The facts from before the call stand without it.
    private func refused() -> Plan.Refusal {
        var refusal = Plan.Refusal(facts: recorded, memory: memory)
        for file in memory.files where !memory.hasHandle(of: file.id) && facts.countOfNames(of: file.id) == 0 {
            refusal.after.append(.forget(file.id))
            refusal.memory[file.id] = nil
        }
        return refusal
    }

    /// A fact, which the rest of the plan sees at once.
    mutating func record(_ fact: Fact) {
        facts.apply(fact)
        recorded.append(fact)
        if let asked = memory.asked { note(fact, in: asked) }
        switch fact {
        case .row(let row) where row.file != nil && row.maker == nil: publish(row.document)
        case .publish(let row): if let row = facts[row] { publish(row.document) }
        default: break
        }
    }

    /// An event may change what a writer of the document's files may amend.
    private func note(_ fact: Fact, in asked: Asked) {
        switch fact {
        case .row(let row): asked.note(row.document)
        case .version(let version), .amend(let version): facts.document(of: version).map(asked.note)
        case .forget(let version): asked.note(version)
        case .settle, .publish, .purge: break
        }
    }

    /// A document is public with all its rows: versions belong to former ones.
    private mutating func publish(_ document: DocumentNumber) {
        for row in facts.unpublishedRows(of: document) {
            facts.apply(.publish(row.number))
            recorded.append(.publish(row.number))
        }
    }

    /// The number of one more fact.
    mutating func takeNumber() -> UInt64 {
        defer { nextNumber &+= 1 }
        return nextNumber
    }

    /// A row of a place that has a file from now on, or none; not recorded yet.
    mutating func row(_ place: PlaceNumber, _ file: FileID?, _ how: How, by actor: ActorNumber?) -> NameRow {
        NameRow(number: RowNumber(takeNumber()), time: now, place: place, file: file, how: how, actor: actor)
    }

    /// Changes what is remembered of a file; nothing if it is not in the scene.
    mutating func update(_ file: FileID, _ change: (inout LiveFile) -> Void) {
        guard let index = memory.files.firstIndex(where: { $0.id == file }) else { return }
        change(&memory.files[index])
    }

    /// A file that has neither a name nor a handle is gone. A version that has its only home there is kept before that.
    private mutating func forgetFilesWithoutNames() {
        for file in memory.files where !memory.hasHandle(of: file.id) && facts.countOfNames(of: file.id) == 0 {
            if isSoleKeeper(file) { keep(file.id) }
            perform(.forget(file.id))
            memory[file.id] = nil
        }
    }
}
