// Does the operations of the random test for real: five programs in terminals, their children, files on a mount.

import Glibc
import Support

/// The processes of one run, by the numbers that the reference gives them.
final class RulePlayer {
    /// What the roots are called: vim's own backups are scaffolding, the others' are documents.
    static let programs = ["vim", "code", "claude", "editor", "python3"]

    private struct Person {
        var root: Int
        /// The names by which each ancestor, from the root on, addresses the next.
        var chain: [String] = []
        var pid: Int32
    }

    private let roots: [ActorProcess]
    private var people: [Int: Person] = [:]
    /// The pid of everyone that ever was.
    private(set) var pids: [Int: Int32] = [:]
    private var directory = ""
    private var count = 0

    init(in path: String) throws {
        roots = try Self.programs.map { try ActorProcess($0, in: path) }
    }

    /// Begins anew in another directory: with the roots alone.
    func begin(in directory: String, _ reference: inout some RuleReference) throws {
        for (number, person) in people.sorted(by: { $0.key < $1.key }) where person.chain.count == 1 {
            try end(number)
        }
        self.directory = directory
        people = [:]
        for (index, root) in roots.enumerated() {
            people[index + 1] = Person(root: index, pid: root.pid)
            pids[index + 1] = root.pid
            reference.addRoot(index + 1, shell: -(index + 1), program: Self.programs[index])
        }
    }

    // MARK: Requests

    private func ask(_ process: Int, _ words: String...) throws -> Bool {
        try answer(process, words) != nil
    }

    /// The values, or nil for ESTALE; anything else that fails is a fault of the test or of the mount.
    private func answer(_ process: Int, _ words: [String]) throws -> [String]? {
        guard let person = people[process] else { throw Failure("there is no process \(process)") }
        let all = person.chain.flatMap { ["to", $0] } + words
        try roots[person.root].begin(all[0], Array(all.dropFirst()))
        switch try roots[person.root].finish() {
        case .done(let values): return values
        case .failed(ESTALE): return nil
        case .failed(let code):
            throw Failure("process \(process): \(words.joined(separator: " ")): \(String(cString: strerror(code)))")
        }
    }

    private func must(_ process: Int, _ words: String...) throws {
        guard try answer(process, words) != nil else {
            throw Failure("process \(process): \(words.joined(separator: " ")): Stale file handle")
        }
    }

    private func path(_ name: String) -> String { directory + "/" + name }

    // MARK: Operations

    /// - Returns: the outcome of each call that may be refused, as ``RuleReference/apply(_:)`` does.
    func perform(_ operation: RuleOperation) throws -> [RuleOutcome] {
        let (process, file) = (operation.process, path(operation.name))
        switch operation.verb {
        case .load: try must(process, "load", file)
        case .save: return [try save(process, file, operation.text)]
        case .saveByRename: return [try saveByRename(process, file, operation.text)]
        case .saveByOrdinaryRename:
            let made = try save(process, file + ".new", operation.text)
            return made == .done ? [made, try rename(process, file + ".new", file)] : [made]
        case .append: try write(process, file, "w+append", operation.text)
        case .overwrite: return [try openAndWrite(process, file, "w", operation.text)]
        case .truncate:
            let facts = try answer(process, ["stat", file])
            guard let facts, facts.count > 1, let size = Int(facts[1]) else { throw Failure("no size of \(file)") }
            return [outcome(try ask(process, "truncate", file, String(size / 2)))]
        case .unlinkAndCreate:
            let unlinked = try unlink(process, file)
            return unlinked == .done ? [unlinked, try save(process, file, operation.text)] : [unlinked]
        case .renameAwayAndCreate, .renameAwayAndKeep:
            let moved = try rename(process, file, file + "~")
            guard moved == .done else { return [moved] }
            let saved = try save(process, file, operation.text)
            return operation.verb == .renameAwayAndKeep
                ? [moved, saved] : [moved, saved, try unlink(process, file + "~")]
        case .copyBackupAndSave: return try copyBackup(operation, file)
        case .delete: return [try unlink(process, file)]
        case .move: return [try rename(process, file, path(operation.other))]
        case .exchange: return [outcome(try ask(process, "exchange", file, path(operation.other)))]
        case .chmod: try must(process, "chmod", file, Bool.random() ? "600" : "644")
        case .touch:
            count += 1
            try must(process, "utimens", file, String(1_000_000_000 + count))
        case .closeAfterRename, .closeAfterLoad: return try closeLate(operation, file)
        case .spawn: try spawn(operation.second, by: process)
        case .end: try end(operation.second)
        }
        return []
    }

    private func outcome(_ isDone: Bool) -> RuleOutcome { isDone ? .done : .refused }

    private func save(_ process: Int, _ file: String, _ text: String) throws -> RuleOutcome {
        try openAndWrite(process, file, "w+creat+trunc", text)
    }

    private func openAndWrite(_ process: Int, _ file: String, _ flags: String, _ text: String) throws
        -> RuleOutcome
    {
        guard try ask(process, "open", "h", file, flags) else { return .refused }
        try must(process, "write", "h", text)
        try must(process, "close", "h")
        return .done
    }

    private func write(_ process: Int, _ file: String, _ flags: String, _ text: String) throws {
        guard try openAndWrite(process, file, flags, text) == .done else {
            throw Failure("\(file) cannot be appended to")
        }
    }

    private func saveByRename(_ process: Int, _ file: String, _ text: String) throws -> RuleOutcome {
        count += 1
        let temporary = "\(file).tmp.\(people[process]?.pid ?? 0).\(String(count, radix: 16))"
        try write(process, temporary, "w+creat+excl", text)
        let renamed = try rename(process, temporary, file)
        if renamed == .refused { try must(process, "unlink", temporary) }
        return renamed
    }

    private func rename(_ process: Int, _ from: String, _ to: String) throws -> RuleOutcome {
        outcome(try ask(process, "rename", from, to))
    }

    private func unlink(_ process: Int, _ file: String) throws -> RuleOutcome {
        outcome(try ask(process, "unlink", file))
    }

    private func copyBackup(_ operation: RuleOperation, _ file: String) throws -> [RuleOutcome] {
        let process = operation.process
        guard let text = try answer(process, ["load", file])?.first else { throw Failure("\(file) cannot be read") }
        let copied = try save(process, file + "~", text)
        guard copied == .done else { return [copied] }
        let saved = try save(process, file, operation.text)
        return [copied, saved, try unlink(process, file + "~")]
    }

    private func closeLate(_ operation: RuleOperation, _ file: String) throws -> [RuleOutcome] {
        let process = operation.process
        guard try ask(process, "open", "late", file, "w+trunc") else { return [.refused] }
        try must(process, "write", "late", operation.text)
        var outcomes = [RuleOutcome.done]
        if operation.verb == .closeAfterLoad {
            try must(operation.second, "load", file)
        } else {
            outcomes.append(try saveByRename(operation.second, file, operation.secondText))
        }
        try must(process, "close", "late")
        return outcomes
    }

    private func spawn(_ child: Int, by parent: Int) throws {
        guard let pid = try answer(parent, ["spawn", "c\(child)"])?.first.flatMap({ Int32($0) }),
            let person = people[parent]
        else { throw Failure("no child") }
        people[child] = Person(root: person.root, chain: person.chain + ["c\(child)"], pid: pid)
        pids[child] = pid
    }

    private func end(_ process: Int) throws {
        guard let person = people[process], let name = person.chain.last else { return }
        let parent = person.chain.dropLast()
        let words = parent.flatMap { ["to", $0] } + ["end", name]
        try roots[person.root].begin(words[0], Array(words.dropFirst()))
        _ = try roots[person.root].finish()
        people = people.filter { $0.value.root != person.root || !$0.value.chain.starts(with: person.chain) }
    }
}
