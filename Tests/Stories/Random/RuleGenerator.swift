// Draws the operations of the random test: mostly such as can be done, from a printed seed.

import Support

/// Makes operations that fit to what a reference says is there.
struct RuleGenerator {
    /// How often each operation comes, in shares.
    private static let shares: [RuleOperation.Verb: Int] = [
        .load: 22, .save: 12, .saveByRename: 10, .saveByOrdinaryRename: 8, .append: 8, .overwrite: 4, .truncate: 2,
        .unlinkAndCreate: 3, .renameAwayAndCreate: 5, .renameAwayAndKeep: 2, .copyBackupAndSave: 5, .delete: 3,
        .move: 4,
        .exchange: 1, .chmod: 1, .touch: 1, .closeAfterRename: 3, .closeAfterLoad: 3, .spawn: 4, .end: 2,
    ]
    private static let ofMerging: Set<RuleOperation.Verb> = [
        .load, .save, .saveByRename, .unlinkAndCreate, .renameAwayAndCreate, .copyBackupAndSave, .chmod, .spawn, .end,
    ]
    /// The names that are there from the start, and those that may appear.
    static let adopted = ["a.txt", "b.txt"]
    private static let free = ["c.txt", "q.log", "d.txt"]
    private static let deepest = 3
    private static let most = 14

    private let verbs: [RuleOperation.Verb]
    private let merges: Bool
    private var dice: SeededGenerator
    private var count = 0
    /// What each process has in its buffer, for edits that are to be merged.
    private var buffers: [Int: [String: String]] = [:]
    private var lastProcess = 0

    init(_ setting: RuleSetting, seed: UInt64) {
        merges = setting == .merge
        dice = SeededGenerator(seed: seed)
        let merges = merges
        verbs = RuleOperation.Verb.allCases.filter { !merges || Self.ofMerging.contains($0) }
            .flatMap { Array(repeating: $0, count: Self.shares[$0] ?? 0) }
    }

    static func firstText(_ name: String) -> String { SlotText.text((0..<5).map { "\(name) \($0)" }) }

    /// The next operation for what the reference says.
    mutating func next(_ reference: some RuleReference) -> RuleOperation {
        while true {
            if let operation = draw(reference) { return operation }
        }
    }

    private mutating func draw(_ reference: some RuleReference) -> RuleOperation? {
        guard let verb = verbs.randomElement(using: &dice),
            let process = reference.lineages.keys.sorted().randomElement(using: &dice)
        else { return nil }
        var operation = RuleOperation(verb: verb, process: process)
        switch verb {
        case .spawn:
            guard (reference.lineages[process]?.count ?? 0) <= Self.deepest, reference.lineages.count < Self.most else {
                return nil
            }
            lastProcess += 1
            operation.second = 100 + lastProcess
            return operation
        case .end:
            guard let child = reference.lineages.keys.filter({ $0 > 100 }).sorted().randomElement(using: &dice) else {
                return nil
            }
            operation.second = child
            return operation
        default: break
        }
        let present = reference.present
        let canCreate: Set<RuleOperation.Verb> = [.save, .saveByRename, .saveByOrdinaryRename]
        let choices = canCreate.contains(verb) ? Array(Set(present + Self.adopted + Self.free)).sorted() : present
        guard let name = choices.randomElement(using: &dice) else { return nil }
        operation.name = name
        // Backups of backups teach nothing new and make names without end.
        if name.hasSuffix("~") || name.hasSuffix(".new"),
            [
                .saveByOrdinaryRename, .renameAwayAndCreate, .renameAwayAndKeep,
                .copyBackupAndSave,
            ].contains(verb)
        {
            return nil
        }
        // Made by vim, such a name is its scaffolding from the start, of which
        // the reference knows only as part of a backup.
        if verb == .unlinkAndCreate, RuleModel.isScaffolding(name, madeBy: reference.program(process)) { return nil }
        if verb == .move || verb == .exchange {
            let others = (verb == .move ? Array(Set(present + Self.free)).sorted() : present).filter { $0 != name }
            guard let other = others.randomElement(using: &dice) else { return nil }
            operation.other = other
        }
        if verb == .closeAfterRename || verb == .closeAfterLoad {
            let others = reference.lineages.keys.filter { $0 != process }.sorted()
            guard let other = others.randomElement(using: &dice) else { return nil }
            operation.second = other
            operation.secondText = text(for: operation, reference)
        }
        if verb == .truncate, (reference.content(name)?.count ?? 0) < 2 { return nil }
        operation.text = text(for: operation, reference)
        remember(operation, reference)
        return operation
    }

    private mutating func text(for operation: RuleOperation, _ reference: some RuleReference) -> String {
        count += 1
        if merges { return edited(operation, reference) }
        switch operation.verb {
        case .append, .overwrite: return "<\(count)>"
        default: break
        }
        // Now and then a content that the document had before.
        if Int.random(in: 0..<6, using: &dice) == 0,
            let old = reference.contents(everIn: operation.name).filter({ !$0.isEmpty }).sorted()
                .randomElement(using: &dice)
        {
            return old
        }
        return "text \(count) of \(operation.process)\n"
    }

    /// The process's buffer with one line changed.
    private mutating func edited(_ operation: RuleOperation, _ reference: some RuleReference) -> String {
        let known = buffers[operation.process]?[operation.name] ?? reference.content(operation.name)
        var slots = SlotText.slots(known ?? Self.firstText(operation.name))
        slots[Int.random(in: slots.indices, using: &dice)] = "edit \(count) of \(operation.process)"
        return SlotText.text(slots)
    }

    private mutating func remember(_ operation: RuleOperation, _ reference: some RuleReference) {
        guard merges else { return }
        let text = operation.verb == .load ? reference.content(operation.name) : operation.text
        if operation.verb != .chmod { buffers[operation.process, default: [:]][operation.name] = text }
    }
}
