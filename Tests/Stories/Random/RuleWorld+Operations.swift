// The operations of the random test as the system calls that the player makes.

import Lineage
import VersionModel

extension RuleWorld {
    mutating func apply(_ operation: RuleOperation) -> [RuleOutcome] {
        let (process, name) = (operation.process, operation.name)
        switch operation.verb {
        case .load: load(process, name)
        case .save: return [save(process, name, operation.text)]
        case .saveByRename: return [saveByRename(process, name, operation.text)]
        case .saveByOrdinaryRename:
            let made = save(process, name + ".new", operation.text)
            return made == .done ? [made, rename(process, name + ".new", name)] : [made]
        case .append: _ = openAndWrite(process, name, .append, operation.text)
        case .overwrite: return [openAndWrite(process, name, .write, operation.text)]
        case .truncate: return [truncate(process, name)]
        case .unlinkAndCreate:
            let unlinked = unlink(process, name)
            return unlinked == .done ? [unlinked, save(process, name, operation.text)] : [unlinked]
        case .renameAwayAndCreate, .renameAwayAndKeep:
            let moved = rename(process, name, name + "~")
            guard moved == .done else { return [moved] }
            let saved = save(process, name, operation.text)
            return operation.verb == .renameAwayAndKeep ? [moved, saved] : [moved, saved, unlink(process, name + "~")]
        case .copyBackupAndSave: return copyBackup(operation)
        case .delete: return [unlink(process, name)]
        case .move: return [rename(process, name, operation.other)]
        case .exchange: return [exchange(process, name, operation.other)]
        case .chmod, .touch: break
        case .closeAfterRename, .closeAfterLoad: return closeLate(operation)
        case .spawn: spawn(operation.second, by: process)
        case .end: end(operation.second)
        }
        return []
    }

    private mutating func load(_ process: Int, _ name: String) {
        perform(.read(Self.actor(process), place(name)))
        noteRead(process, name)
    }

    private func isMadeUp(_ name: String, by process: Int) -> Bool {
        FileName(name).map {
            TemporaryNames.ephemeral($0, program: program(process), process: Int32(truncatingIfNeeded: process))
        } ?? false
    }

    // MARK: Files

    private mutating func open(_ process: Int, _ name: String, _ mode: AccessMode) -> HandleNumber? {
        let (actor, place, handle, isThere) = (Self.actor(process), place(name), newHandle(), file(name) != nil)
        if isThere, mode == .replace || mode == .write, refuses(process, name) { return nil }
        if mode == .replace { begin(process, name) }
        if isThere {
            perform(.open(actor, place, handle, mode, isUnseen: false)) { world in
                if mode == .replace, let file = world.file(handle) { world.write("", in: file) }
            }
        } else {
            let file = newFile()
            let isMadeUp = isMadeUp(name, by: process)
            perform(.create(actor, place, file, handle, mode, isMadeUp: isMadeUp, isUnseen: false)) {
                $0.write("", in: file)
            }
        }
        return handle
    }

    private mutating func write(_ handle: HandleNumber, _ text: String, _ mode: AccessMode) {
        perform(.write(handle)) { world in
            guard let file = world.file(handle) else { return }
            let former = world.text(in: file)
            world.write(mode == .append ? former + text : text + String(former.dropFirst(text.count)), in: file)
        }
    }

    private mutating func close(_ handle: HandleNumber) {
        perform(.close(handle))
        perform(.release(handle))
    }

    private mutating func openAndWrite(
        _ process: Int, _ name: String, _ mode: AccessMode, _ text: String
    ) -> RuleOutcome {
        guard let handle = open(process, name, mode) else { return .refused }
        write(handle, text, mode)
        close(handle)
        return .done
    }

    private mutating func save(_ process: Int, _ name: String, _ text: String) -> RuleOutcome {
        openAndWrite(process, name, .replace, text)
    }

    private mutating func saveByRename(_ process: Int, _ name: String, _ text: String) -> RuleOutcome {
        let temporary = "\(name).tmp.\(process).1"
        _ = openAndWrite(process, temporary, .write, text)
        let renamed = rename(process, temporary, name)
        if renamed == .refused { _ = unlink(process, temporary) }
        return renamed
    }

    private mutating func truncate(_ process: Int, _ name: String) -> RuleOutcome {
        guard let file = file(name) else { return .done }
        if refuses(process, name) { return .refused }
        let (actor, place) = (Self.actor(process), place(name))
        perform(.truncate(actor, place)) { world in
            let text = world.text(in: file)
            world.write(String(text.prefix(text.count / 2)), in: file)
        }
        perform(.save(actor, place))
        return .done
    }

    private mutating func copyBackup(_ operation: RuleOperation) -> [RuleOutcome] {
        let (process, name) = (operation.process, operation.name)
        guard let text = content(name) else { return [] }
        load(process, name)
        let copied = save(process, name + "~", text)
        guard copied == .done else { return [copied] }
        let saved = save(process, name, operation.text)
        return [copied, saved, unlink(process, name + "~")]
    }

    private mutating func closeLate(_ operation: RuleOperation) -> [RuleOutcome] {
        guard let handle = open(operation.process, operation.name, .replace) else { return [.refused] }
        write(handle, operation.text, .replace)
        var outcomes = [RuleOutcome.done]
        if operation.verb == .closeAfterLoad {
            load(operation.second, operation.name)
        } else {
            outcomes.append(saveByRename(operation.second, operation.name, operation.secondText))
        }
        close(handle)
        return outcomes
    }

    // MARK: Names

    private mutating func unlink(_ process: Int, _ name: String) -> RuleOutcome {
        guard !refusesUnlink(process, name) else { return .refused }
        perform(.unlink(Self.actor(process), place(name)))
        return .done
    }

    private mutating func rename(_ process: Int, _ from: String, _ to: String) -> RuleOutcome {
        let isMadeUp = isMadeUp(to, by: process)
        if isMadeUp, refuses(process, from) { return .refused }
        if file(to) != nil, content(from) != saved(to), refuses(process, to) { return .refused }
        let (one, other) = (place(from), place(to))
        perform(.rename(Self.actor(process), from: one, to: other, isMadeUp: isMadeUp))
        return .done
    }

    private mutating func exchange(_ process: Int, _ one: String, _ other: String) -> RuleOutcome {
        if isMadeUp(other, by: process), refuses(process, one) { return .refused }
        if isMadeUp(one, by: process), refuses(process, other) { return .refused }
        let places = (place(one), place(other))
        perform(.exchange(Self.actor(process), places.0, places.1))
        return .done
    }
}
