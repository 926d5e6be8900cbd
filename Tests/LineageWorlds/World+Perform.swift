// Carrying out moves: each is planned, done step by step, and checked after every step.

import Lineage
import VersionModel

extension World {
    /// The world after a move.
    public func performing(_ move: Move, _ rules: Rules) throws(Violation) -> World {
        var world = self
        world.former = Tree(number: facts.lastNumber, names: disk.names)
        try world.carryOut(move, rules)
        world.noteHistory(rules, move)
        let problems = world.problems(rules)
        guard problems.isEmpty else { throw Violation(problems: problems, moment: "after \(move)", world: world) }
        if rules.kills { try world.checkKill("a kill after \(move)") }
        if rules.powerCuts { try world.checkPowerCuts("after \(move)") }
        return world
    }

    /// The events that a move is, one after another.
    private mutating func carryOut(_ move: Move, _ rules: Rules) throws(Violation) {
        switch move {
        case .refused(let refused):
            refusal = .asked
            defer { refusal = .none }
            try carryOut(refused, rules)
            positions.removeLast(positions.count - memory.handles.count)
        case .age: seconds += 1
        case .synchronize: synchronize()
        case .open(let actor, let place, let mode, let isUnseen):
            try open(actor, place, mode, isUnseen: isUnseen, rules, move)
        case .write(let index, let atStart, let isRepeating):
            try write(index, atStart: atStart, isRepeating: isRepeating, rules, move)
        case .empty(let index):
            guard memory.handles.indices.contains(index) else { return }
            try perform(.empty(memory.handles[index].number), rules, move)
        case .cut(let index):
            guard memory.handles.indices.contains(index), canCut(index) else { return }
            if memory.handles[index].isClosed { goOn(memory.handles[index]) }
            try perform(.shorten(memory.handles[index].number), rules, move)
        case .close(let index):
            guard memory.handles.indices.contains(index) else { return }
            try perform(.close(memory.handles[index].number), rules, move)
        case .seal(let index, let goesOn):
            guard memory.handles.indices.contains(index) else { return }
            try perform(.seal(memory.handles[index].number, goesOn: goesOn), rules, move)
        case .reopen(let actor, let index, let mode, let isUnseen):
            guard memory.handles.indices.contains(index), !disk.hasName(memory.handles[index].file) else { return }
            let (file, handle) = (memory.handles[index].file, HandleNumber(nextHandle))
            nextHandle += 1
            try perform(.openNameless(actor, file, handle, mode, isUnseen: isUnseen), rules, move)
            positions.append(0)
        case .release(let index):
            guard memory.handles.indices.contains(index) else { return }
            try perform(.release(memory.handles[index].number), rules, move)
            positions.remove(at: index)
        case .rename(let actor, let from, let to):
            let isMadeUp = rules.hasMadeUpNames && Self.name(of: to) == 2
            try perform(.rename(actor, from: from, to: to, isMadeUp: isMadeUp), rules, move)
        case .exchange(let actor, let one, let other): try perform(.exchange(actor, one, other), rules, move)
        case .link(let actor, let from, let to): try perform(.link(actor, from: from, to: to), rules, move)
        case .unlink(let actor, let place, let leavesNothing):
            try perform(.unlink(actor, place, leavesNothing: leavesNothing), rules, move)
        case .readForBackup(let actor, let place): try perform(.readForBackup(actor, place), rules, move)
        case .truncate(let actor, let place):
            try perform(.truncate(actor, place), rules, move)
            try perform(.save(actor, place), rules, move)
        case .makeDirectory(let actor, let place): try perform(.makeDirectory(actor, place, newFile()), rules, move)
        case .removeDirectory(let actor, let place): try perform(.removeDirectory(actor, place), rules, move)
        case .undelete(let actor, let row, let place, let takesFormer):
            try perform(.undelete(actor, row, place, newFile(), takesFormer: takesFormer), rules, move)
        case .pin(let place):
            let document = facts.occupant(of: place)?.document
            guard let current = document.flatMap({ facts.current(of: $0) }) else { return }
            try perform(.pin(current), rules, move)
        case .purge(let row): try perform(.purge(row), rules, move)
        case .restore(let actor, let place, let version, let losers):
            try perform(.restore(actor, place, version, newFile(), settling: losers), rules, move)
        case .merge(let actor, let place):
            guard let merged = makeMerge(actor, place) else { return }
            try perform(.merge(place, merged), rules, move)
        case .put(let actor, let place, let version):
            try perform(.put(actor, place, newFile(), version), rules, move)
        case .add(let actor, let place, let isConflict):
            try perform(.add(place, makeAdded(actor, isConflict: isConflict)), rules, move)
        case .resolve(let place, let losers):
            guard let document = facts.occupant(of: place)?.document else { return }
            try perform(.resolve(document, losers), rules, move)
        case .drop(let place, let versions, let sparesBases):
            guard let document = facts.occupant(of: place)?.document else { return }
            try perform(.drop(document, versions, sparesBases: sparesBases), rules, move)
        }
    }

    mutating func newFile() -> FileID {
        defer { nextFile += 1 }
        return FileID(nextFile)
    }

    private mutating func open(
        _ actor: ActorNumber, _ place: PlaceNumber, _ mode: AccessMode, isUnseen: Bool, _ rules: Rules, _ move: Move
    ) throws(Violation) {
        if mode == .read { return try perform(.read(actor, place), rules, move) }
        let handle = HandleNumber(nextHandle)
        nextHandle += 1
        if disk.file(at: place) == nil {
            let isMadeUp = rules.hasMadeUpNames && Self.name(of: place) == 2
            let event = Event.create(actor, place, newFile(), handle, mode, isMadeUp: isMadeUp, isUnseen: isUnseen)
            try perform(event, rules, move)
        } else {
            try perform(.open(actor, place, handle, mode, isUnseen: isUnseen), rules, move)
        }
        positions.append(0)
    }

    private mutating func write(
        _ index: Int, atStart: Bool, isRepeating: Bool, _ rules: Rules, _ move: Move
    ) throws(Violation) {
        guard memory.handles.indices.contains(index) else { return }
        let handle = memory.handles[index]
        if handle.isClosed { goOn(handle) }
        if !isRepeating { lastLetter += 1 }
        let isInside = atStart && !handle.isUnseen
        let position = handle.mode == .append && !isInside ? nil : atStart ? 0 : positions[index]
        let writing = Writing(letter: isRepeating ? 255 : lastLetter, position: position)
        if handle.isUnseen {
            if refusal != .none { return }
            // The daemon hears nothing of it.
            ticks += 1
            note(.call(.write(handle.file), writing, at: now))
            disk.perform(.write(handle.file), writing: writing, at: now)
            look()
            var plan = Plan(memory: memory)
            plan.point = .write(handle.file)
            notePerformed(nil, plan)
        } else {
            try perform(.write(handle.number, isInside: isInside), writing: writing, rules, move)
        }
        positions[index] = position.map { $0 + 1 } ?? Int(disk[handle.file]?.content.size ?? 0)
    }

    /// A program writes through a duplicate of what it has closed: until its release it goes on with the version.
    private mutating func goOn(_ handle: Handle) {
        guard let saved = handle.saved.flatMap({ facts[$0] }) else { return }
        acknowledged.removeAll { $0.file == handle.file && $0.content == saved.fingerprint }
    }

    // MARK: One event

    private mutating func perform(
        _ event: Event, writing: Writing? = nil, _ rules: Rules, _ move: Move
    ) throws(Violation) {
        if refusal == .given { return }
        ticks += 1
        let plan = Planning.plan(event, in: scene)
        if rules.hasLog, Planning.plan(event, in: sceneOverLog) != plan {
            throw Violation(problems: ["the plan over a log is another one"], moment: "\(move)", world: self)
        }
        let partial = rules.hasLog ? try partialPlan(event, like: plan, move) : nil
        if refusal == .asked, let refused = plan.refusal {
            refusal = .given
            refuse(plan, refused)
            if let partial, let refusal = partial.plan.refusal {
                try remember(partial.part, refusal.memory, refusal.facts, move)
            }
            look()
            notePerformed(event, plan, isRefused: true)
            return
        }
        let promised = promise(event, plan)
        acknowledged = acknowledged.filter { !isWithdrawn($0, by: plan) }
        guard !plan.after.contains(where: \.isKeeping) else {
            throw Violation(problems: ["a content is kept too late"], moment: "\(move)", world: self)
        }
        if rules.kills { try checkKills(plan, event, writing, move) }
        if rules.kills { try checkRefusal(plan, rules, move) }
        let time = now
        perform(plan.before, at: time)
        if let point = plan.point {
            if point.changesDisk { note(.call(point, writing, at: time)) }
            disk.perform(point, writing: writing, at: time)
        }
        if !plan.facts.isEmpty { note(.transaction(plan.facts)) }
        commit(plan.facts)
        perform(plan.after, at: time)
        memory = plan.memory
        if let partial { try remember(partial.part, partial.plan.memory, plan.facts, move) }
        look()
        notePerformed(event, plan)
        for promise in promised where !acknowledged.contains(promise) { acknowledged.append(promise) }
    }

    private mutating func notePerformed(_ event: Event?, _ plan: Plan, isRefused: Bool = false) {
        if performed == nil { return }
        let step = Performed(event: event, plan: plan, isRefused: isRefused, now: now, kin: kin, disk: disk)
        performed?.append(step)
    }

    /// The system call of a plan is refused.
    mutating func refuse(_ plan: Plan, _ refusal: Plan.Refusal) {
        let time = now
        perform(plan.before, at: time)
        if !refusal.facts.isEmpty { note(.transaction(refusal.facts)) }
        commit(refusal.facts)
        perform(refusal.after, at: time)
        memory = refusal.memory
    }

    private mutating func perform(_ steps: [Step], at time: Timestamp) {
        for step in steps {
            note(.step(step, at: time))
            disk.perform(step, at: time)
        }
    }

    private mutating func note(_ effect: Effect) {
        if synchronized != nil { unsynchronized.append(effect) }
    }

    /// One transaction.
    mutating func commit(_ recorded: [Fact]) {
        let told = facts.feed(of: recorded)
        listener.hear(told)
        transactions?.append(Transaction(recorded: recorded, told: told))
        for fact in recorded { facts.apply(fact) }
        nextNumber = max(nextNumber, facts.lastNumber + 1)
    }

    /// Looks at the files, as the daemon does before it plans.
    mutating func look() {
        for index in memory.files.indices {
            guard let file = disk[memory.files[index].id], file.modified != memory.files[index].modified else {
                continue
            }
            memory.files[index].fingerprint = file.content
            memory.files[index].modified = file.modified
            memory.files[index].isChanged = true
            let held = memory.files[index].holds.flatMap { facts.fingerprint($0) }
            memory.files[index].beginsWithHeld = held.map { file.content.begins(with: $0) } ?? true
            remembered?[file.id] = memory.files[index]
        }
    }

    private mutating func noteHistory(_ rules: Rules, _ move: Move) {
        guard rules.powerCuts else { return }
        // What goes for good does so durably, before any bytes go.
        switch move {
        case .purge, .refused(.purge), .drop, .refused(.drop), .unlink(_, _, leavesNothing: true): past = []
        default: break
        }
        past.append(facts)
        if past.count > 4 { past.removeFirst() }
    }
}

extension Step {
    fileprivate var isKeeping: Bool {
        if case .keep = self { return true }
        return false
    }
}

extension SystemCall {
    fileprivate var changesDisk: Bool {
        if case .open = self { return false }
        return true
    }
}

extension Disk {
    mutating func perform(_ step: Step, at time: Timestamp) {
        switch step {
        case .keep(let content, let labels): keep(content, labels: labels)
        case .make(let file, let version):
            setContent(file, version.flatMap(content) ?? .empty, at: version?.modified ?? time)
        case .forget(let file): forget(file)
        }
    }

    /// The content of a version, from its object or from the live file.
    private func content(_ version: VersionRow) -> Fingerprint? {
        (object(version.content)?.bytes ?? self[version.content.file]?.content)?.prefix(version.fingerprint.size)
    }
}
