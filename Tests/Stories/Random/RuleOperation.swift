// What the processes of the random test do, and what the model makes of it.

/// One operation by one process on one document; `later` is what somebody else does in the middle of it.
struct RuleOperation: CustomStringConvertible {
    enum Verb: String, CaseIterable {
        case load, save, saveByRename, saveByOrdinaryRename, append, overwrite, truncate, unlinkAndCreate
        case renameAwayAndCreate, renameAwayAndKeep, copyBackupAndSave, delete, move, exchange, chmod, touch
        case closeAfterRename, closeAfterLoad, spawn, end
    }

    var verb: Verb
    var process: Int
    var name = ""
    /// The other name, or nothing.
    var other = ""
    var text = ""
    /// The process that acts in between, or is spawned.
    var second = 0
    var secondText = ""

    var description: String {
        let words = [verb.rawValue, name, other, text, second > 0 ? "with \(second)" : "", secondText]
        return "\(process): " + words.filter { !$0.isEmpty }.joined(separator: " ").replacing("\n", with: "|")
    }
}

extension RuleModel {
    mutating func apply(_ operation: RuleOperation) -> [RuleOutcome] {
        let (process, name) = (operation.process, operation.name)
        switch operation.verb {
        case .load: load(process, name)
        case .save: return [saveInPlace(process, name, operation.text)]
        case .saveByRename: return [saveByRename(process, name, operation.text)]
        case .saveByOrdinaryRename: return saveByOrdinaryRename(operation)
        case .append: change(process, name, .append) { $0 + operation.text }
        case .overwrite:
            return [replace(process, name, .inPlace) { operation.text + String($0.dropFirst(operation.text.count)) }]
        case .truncate: return [replace(process, name, .inPlace) { String($0.prefix($0.count / 2)) }]
        case .unlinkAndCreate: return unlinkAndCreate(operation)
        case .renameAwayAndCreate, .renameAwayAndKeep: return renameAway(operation)
        case .copyBackupAndSave: return copyBackup(operation)
        case .delete: return [tryUnlink(process, name)]
        case .move: return [tryMove(process, name, operation.other)]
        case .exchange: return exchange(process, name, operation.other)
        case .chmod, .touch: break
        case .closeAfterRename: return closeAfterRename(operation)
        case .closeAfterLoad: return closeAfterLoad(operation)
        case .spawn: spawn(operation.second, by: process)
        case .end: end(operation.second)
        }
        return []
    }

    private mutating func change(_ process: Int, _ name: String, _ way: Way, _ edit: (String) -> String) {
        guard let id = names[name], let content = content(name) else { return }
        save(process, id, edit(content), way)
    }

    private mutating func replace(
        _ process: Int, _ name: String, _ way: Way, _ edit: (String) -> String
    ) -> RuleOutcome {
        guard !refuses(process, name) else { return .refused }
        change(process, name, way, edit)
        return .done
    }

    private mutating func saveInPlace(_ process: Int, _ name: String, _ text: String) -> RuleOutcome {
        guard !refuses(process, name) else { return .refused }
        if names[name] != nil { begin(process, name) }
        save(process, names[name] ?? create(process, name), text, .replacing)
        return .done
    }

    private mutating func saveByRename(_ process: Int, _ name: String, _ text: String) -> RuleOutcome {
        guard content(name) == text || !refuses(process, name) else { return .refused }
        if let id = names[name] { settle(id) }
        save(process, names[name] ?? create(process, name, byRename: true), text, .replacing)
        return .done
    }

    /// By a name that could be anyone's: `NAME.new`.
    private mutating func saveByOrdinaryRename(_ operation: RuleOperation) -> [RuleOutcome] {
        let temporary = operation.name + ".new"
        let made = saveInPlace(operation.process, temporary, operation.text)
        guard made == .done else { return [made] }
        return [made, tryMove(operation.process, temporary, operation.name)]
    }

    private mutating func unlinkAndCreate(_ operation: RuleOperation) -> [RuleOutcome] {
        let unlinked = tryUnlink(operation.process, operation.name)
        guard unlinked == .done else { return [unlinked] }
        return [unlinked, saveInPlace(operation.process, operation.name, operation.text)]
    }

    private mutating func renameAway(_ operation: RuleOperation) -> [RuleOutcome] {
        let backup = operation.name + "~"
        let moved = tryMove(operation.process, operation.name, backup)
        guard moved == .done else { return [moved] }
        let saved = saveInPlace(operation.process, operation.name, operation.text)
        guard operation.verb == .renameAwayAndCreate else { return [moved, saved] }
        return [moved, saved, tryUnlink(operation.process, backup)]
    }

    /// The read that only serves the backup is no observation.
    private mutating func copyBackup(_ operation: RuleOperation) -> [RuleOutcome] {
        let (process, backup) = (operation.process, operation.name + "~")
        guard let old = content(operation.name) else { return [] }
        load(process, operation.name)
        let isScaffolding = names[backup] == nil && !hasTombstone(backup)
            && Self.isScaffolding(backup, madeBy: program(process))
        if isScaffolding {
            begin(process, backup)
        } else {
            let copied = saveInPlace(process, backup, old)
            guard copied == .done else { return [copied] }
        }
        let saved = saveInPlace(process, operation.name, operation.text)
        return [.done, saved, isScaffolding ? .done : tryUnlink(process, backup)]
    }

    private mutating func tryUnlink(_ process: Int, _ name: String) -> RuleOutcome {
        guard !refusesUnlink(process, name) else { return .refused }
        unlink(process, name)
        return .done
    }

    private mutating func tryMove(_ process: Int, _ from: String, _ to: String) -> RuleOutcome {
        guard !refusesAway(process, from, to: to) else { return .refused }
        // A file with the same content replaces nothing.
        guard names[to] == nil || content(from) == content(to) || !refuses(process, to) else { return .refused }
        move(process, from, to)
        return .done
    }

    private mutating func exchange(_ process: Int, _ one: String, _ other: String) -> [RuleOutcome] {
        guard let first = names[one], let second = names[other], let a = content(one), let b = content(other) else {
            return [.done]
        }
        guard !refusesAway(process, one, to: other), !refusesAway(process, other, to: one) else { return [.refused] }
        for id in [first, second] { settle(id) }
        save(process, first, b, .replacing)
        save(process, second, a, .replacing)
        return [.done]
    }

    private mutating func closeAfterRename(_ operation: RuleOperation) -> [RuleOutcome] {
        guard let id = names[operation.name] else { return [] }
        guard !refuses(operation.process, operation.name) else { return [.refused] }
        begin(operation.process, operation.name)
        let overwritten = items[id]?.current
        let renamed = saveByRename(operation.second, operation.name, operation.secondText)
        if renamed == .done {
            saveOrphan(operation.process, id, operation.text, overwritten: overwritten)
        } else {
            save(operation.process, id, operation.text, .replacing)
        }
        return [.done, renamed]
    }

    private mutating func closeAfterLoad(_ operation: RuleOperation) -> [RuleOutcome] {
        guard let id = names[operation.name] else { return [] }
        guard !refuses(operation.process, operation.name) else { return [.refused] }
        begin(operation.process, operation.name)
        load(operation.second, operation.name)
        save(operation.process, id, operation.text, .replacing)
        return [.done]
    }
}
