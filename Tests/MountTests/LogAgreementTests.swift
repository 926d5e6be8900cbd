// `log` and `blame` beside `history` and `deleted`, on trees that several programs have worked in at random.

import Foundation
import Support
import Testing

@Suite(.serialized) struct LogAgreementTests {
    @Test("log tells each version and deletion once, by the same author; blame agrees with the contents of history")
    func randomTrees() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...(.max >> 1))
        for number in 0..<UInt64(Workplace.count(50)) {
            let own = seed + number
            print("LogAgreement: tree \(number), seed \(own)")
            try withContainer(named: "log", files: RandomTree.adopted) { container in
                guard container.isVersioned else { return [] }
                var tree = try RandomTree(in: container, seed: own)
                for _ in 0..<RandomTree.length { try tree.step() }
                let problems = try LogComparison(container, tree).problems()
                return problems.isEmpty ? [] : ["seed \(own):"] + problems + tree.done
            }
        }
    }
}

/// A tree, and three programs that work in it. Every line that is ever written is another one, and none is moved, so
/// that it is plain where a line comes from.
private struct RandomTree {
    static let length = 40
    static let adopted = ["old.txt": "old 1\nold 2\nold 3\n", "d/older.txt": "older 1\nolder 2\n"]
    private static let names = ["a.txt", "b", "c.txt", "d/a.txt", "d/b", "d/e/a.txt", "old.txt", "d/older.txt"]

    let container: TestContainer
    private let actors: [ActorProcess]
    private var generator: SeededGenerator
    private var lines = 0
    /// What was done, for people.
    private(set) var done: [String] = []
    /// What each deletion was of, and who did it.
    private(set) var deleted: [Action] = []
    /// What each rename was of: `from -> to`.
    private(set) var renamed: [Action] = []
    /// Files that somebody has saved.
    private(set) var touched: Set<String> = []

    struct Action: Hashable {
        var what: String
        var program: String
        var pid: Int32
    }

    init(in container: TestContainer, seed: UInt64) throws {
        self.container = container
        generator = SeededGenerator(seed: seed)
        try shell("mkdir -p d/e", in: container.path)
        actors = try ["code", "claude", "micro"].map { try ActorProcess($0, in: container.path) }
    }

    var live: [String] { Self.names.filter { FileManager.default.fileExists(atPath: container.path + "/" + $0) } }

    mutating func step() throws {
        let live = live
        let free = Self.names.filter { !live.contains($0) }
        guard let actor = actors.randomElement(using: &generator) else { return }
        let any = live.randomElement(using: &generator)
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<14: if let name = free.randomElement(using: &generator) { try save(actor, name, fresh(3)) }
        case ..<60: if let name = any { try edit(actor, name) }
        case ..<68: if let name = any { try append(actor, name) }
        case ..<76:
            guard let name = any, let other = free.randomElement(using: &generator) else { return }
            note("\(actor.program) renames \(name) to \(other)")
            try actor.must("rename", name, other)
            renamed.append(Action(what: "\(name) -> \(other)", program: actor.program, pid: actor.pid))
            if touched.remove(name) != nil { touched.insert(other) }
        case ..<86:
            guard let name = any else { return }
            note("\(actor.program) deletes \(name)")
            try actor.must("unlink", name)
            deleted.append(Action(what: name, program: actor.program, pid: actor.pid))
        case ..<93: if let name = free.randomElement(using: &generator) { try undelete(name) }
        default: if let name = any { try restore(name) }
        }
    }

    private mutating func note(_ text: String) { done.append(text) }

    private mutating func fresh(_ most: Int) -> [String] {
        (0..<Int.random(in: 1...most, using: &generator)).map { _ in
            lines += 1
            return "line \(lines)"
        }
    }

    private mutating func save(_ actor: ActorProcess, _ name: String, _ lines: [String]) throws {
        let text = lines.map { $0 + "\n" }.joined()
        let isInPlace = Bool.random(using: &generator)
        note("\(actor.program) saves \(name)\(isInPlace ? "" : " by rename"): \(lines.joined(separator: ", "))")
        touched.insert(name)
        if isInPlace { try actor.save(text, to: name) } else { try actor.saveByRename(text, to: name) }
    }

    /// Some who save have not looked at what they replace: then it is a conflict.
    private mutating func edit(_ actor: ActorProcess, _ name: String) throws {
        let looks = Int.random(in: 0..<4, using: &generator) > 0
        var content = try looks ? actor.load(name) : container.text(of: name) ?? ""
        content.removeLast(content.hasSuffix("\n") ? 1 : 0)
        var text = content.isEmpty ? [] : content.components(separatedBy: "\n")
        let index = Int.random(in: 0...text.count, using: &generator)
        if Bool.random(using: &generator) { text.insert(contentsOf: fresh(2), at: index) }
        if Bool.random(using: &generator), let gone = text.indices.randomElement(using: &generator) {
            text.remove(at: gone)
        }
        try save(actor, name, text + (Bool.random(using: &generator) ? fresh(1) : []))
    }

    private mutating func append(_ actor: ActorProcess, _ name: String) throws {
        let more = fresh(2)
        note("\(actor.program) appends to \(name): \(more.joined(separator: ", "))")
        touched.insert(name)
        try actor.must("open", "more", name, "w+append")
        try actor.must("write", "more", more.map { $0 + "\n" }.joined())
        try actor.must("close", "more")
    }

    private mutating func undelete(_ name: String) throws {
        let output = try container.ctl(["undelete", name])
        if output.status == 0 { note("undeleted \(name)") }
    }

    private mutating func restore(_ name: String) throws {
        let older = try container.history(of: name).versions.filter { $0.kind == "history" }
        guard let version = older.randomElement(using: &generator) else { return }
        note("restores \(name) to \(version.id)")
        touched.insert(name)
        try container.must("restore", name, "--version", version.id)
    }
}

/// What is said of a tree by four commands.
private struct LogComparison {
    private struct Report: Decodable {
        struct Entry: Decodable {
            struct Event: Decodable {
                var time: String
                var event: String
                var path: String
                var from: String?
                var version: String?
                var deletion: String?
            }

            var user: String
            var program: String
            var pid: Int32
            var events: [Event]
        }

        var entries: [Entry]
    }

    private struct Deleted: Decodable {
        var id: String
        var path: String
        var type: String
        var deleted: String
        var user: String
        var program: String
    }

    private struct Blamed: Decodable {
        struct Line: Decodable {
            var text: String
            var version: String
            var time: String
            var program: String
            var pid: Int32
        }

        var version: String
        var lines: [Line]
    }

    /// One event, with its author.
    private struct Told {
        var event: Report.Entry.Event
        var user: String
        var program: String
        var pid: Int32

        var action: RandomTree.Action {
            let what = event.from.map { "\($0) -> \(event.path)" } ?? event.path
            return RandomTree.Action(what: what, program: program, pid: pid)
        }
    }

    private let container: TestContainer
    private let tree: RandomTree
    private let whole: [Told]

    init(_ container: TestContainer, _ tree: RandomTree) throws {
        (self.container, self.tree) = (container, tree)
        whole = try Self.log(container, ".")
    }

    private static func log(_ container: TestContainer, _ path: String) throws -> [Told] {
        let report: Report = try container.decode(["log", path])
        return report.entries.flatMap { entry in
            entry.events.map { Told(event: $0, user: entry.user, program: entry.program, pid: entry.pid) }
        }
    }

    func problems() throws -> [String] {
        let deleted: [Deleted] = try container.decode(["deleted", "."])
        var problems = self.problems(deleted)
        let live = tree.live
        for name in Set(live + deleted.filter { $0.type == "file" }.map(\.path)).sorted() {
            let history = try container.history(of: name)
            // Nobody has touched it: the container has not recorded it.
            let isRecorded = tree.touched.contains(name) || history.versions.count > 1 || !live.contains(name)
            if isRecorded { problems += self.problems(history, in: whole, "log") }
            problems += self.problems(history, in: try Self.log(container, name), "log \(name)")
            if live.contains(name) { problems += try blameProblems(name, history) }
        }
        return problems
    }

    private func problems(_ history: HistoryRecord, in told: [Told], _ command: String) -> [String] {
        history.versions.flatMap { version -> [String] in
            let found = told.filter { $0.event.version == version.id && $0.event.event == "saved" }
            guard found.count == 1, let one = found.first else {
                return ["\(command) tells version \(version.id) of \(history.path) \(found.count) times"]
            }
            let same = one.event.time == version.saved && one.user == version.user && one.program == version.program
                && one.pid == version.pid
            return same ? [] : [
                "\(command) says \(one.event.time) \(one.user) \(one.program) \(one.pid) of version "
                    + "\(version.id), history "
                    + "\(version.saved) \(version.user ?? "-") \(version.program ?? "-") \(version.pid ?? 0)"
            ]
        }
    }

    /// Every deletion and every rename that was done is told once, by whom it was done; and every entry that there is.
    private func problems(_ deleted: [Deleted]) -> [String] {
        var problems: [String] = []
        // A document whose name a rename takes away may be in the deleted list by that, with what it held before
        // (the engine; `mv a b` over b).
        let left = Set(whole.filter { $0.event.event == "renamed" }.map { [$0.event.time, $0.event.from] })
        for (event, actions) in [("deleted", tree.deleted), ("renamed", tree.renamed)] {
            let told = whole.filter { told in
                told.event.event == event
                    && (told.event.deletion == nil || !left.contains([told.event.time, told.event.path]))
            }.map(\.action)
            let (expected, found) = (Self.counts(actions), Self.counts(told))
            for action in Set(expected.keys).union(found.keys) where expected[action] != found[action] {
                problems.append(
                    "\(event) \(action.what) by \(action.program) \(action.pid): \(found[action] ?? 0) times in log, "
                        + "\(expected[action] ?? 0) times in truth")
            }
        }
        for entry in deleted {
            let found = whole.filter { $0.event.deletion == entry.id }
            let isSame = found.allSatisfy {
                $0.event.time == entry.deleted && $0.event.path == entry.path && $0.program == entry.program
                    && $0.user == entry.user
            }
            if found.count != 1 || !isSame { problems.append("deleted \(entry.path): \(found.map(\.event))") }
        }
        return problems
    }

    private static func counts(_ actions: [RandomTree.Action]) -> [RandomTree.Action: Int] {
        Dictionary(actions.map { ($0, 1) }, uniquingKeysWith: +)
    }

    private func blameProblems(_ name: String, _ history: HistoryRecord) throws -> [String] {
        let blamed: Blamed = try container.decode(["blame", name])
        let text = container.text(of: name) ?? ""
        guard blamed.lines.map({ $0.text + "\n" }).joined() == text else { return ["blame \(name) has other lines"] }
        var known: [String: (version: VersionRecord, lines: Set<String>)] = [:]
        for version in history.versions {
            let text = String(decoding: try container.content(of: version), as: UTF8.self)
            known[version.id] = (version, Set(text.components(separatedBy: "\n")))
        }
        return blamed.lines.compactMap { line in
            var origin = blamed.version
            func comes(from parent: String) -> Bool { known[parent]?.lines.contains(line.text) ?? false }
            while let older = known[origin]?.version.parents.first(where: comes) { origin = older }
            let author = known[origin]?.version
            let isRight = origin == line.version && author?.saved == line.time && author?.program == line.program
                && author?.pid == line.pid
            return isRight ? nil : "blame \(name): \(line.text) is of \(line.version), it came with \(origin)"
        }
    }
}
