// Random play with names and contents, at the end of which each moment's tree is brought back.

import CLinux
import Foundation
import Glibc
import Support
import SystemPackage
import VersionModel
import VersionStore

@testable import Container

/// A container of either core, without a kernel.
protocol PlayedContainer: AnyObject {
    var path: String { get }
    var clock: SteppingClock { get }
    var requests: any ContainerRequests { get }
    var operations: any OperatedContainer { get }
    var finder: Finder { get }
}

extension BrowsedContainer: PlayedContainer {
    var requests: any ContainerRequests { container }
    var operations: any OperatedContainer { container }
    var finder: Finder { container.finder }
}

extension EngineTree: PlayedContainer {
    var requests: any ContainerRequests { container }
    var operations: any OperatedContainer { container.operations }
    var finder: Finder { container.finder }
}

/// The steps done with a container; what cannot be done is passed over.
final class PastPlay: OperationTesting {
    private enum Call: String, CaseIterable {
        case save, append, other, replace, backUp, rename, exchange, unlink, remove, link, symlink, directory, conflict
        case wait
        /// A file is opened, and written to after others had to do with it.
        case open, late
    }

    private let tree: any PlayedContainer
    private let callers: [Caller]
    private var handles: [[(node: UInt64, id: UInt64)]]
    private var moments: [(time: Timestamp, tree: [String: String])] = []
    private var count = 0
    /// What a program has made up for itself and taken away again leaves no trace.
    private var traceless: Set<String> = []
    /// What was saved under names that no program has made up.
    private var saved: Set<String> = []
    /// Whether files come back with their modes and times, too: of what was appended to, the time of then is not known.
    private var comparesTimes = false

    init(_ processes: [pid_t], _ tree: any PlayedContainer) throws {
        self.tree = tree
        callers = processes.map { Caller(user: getuid(), group: getgid(), thread: $0, umask: 0o022) }
        handles = processes.map { _ in [] }
        _ = try tree.requests.makeDirectory(callers[0], parent: Node.rootID, name: Array("d".utf8), mode: 0o755)
    }

    static func draw(using dice: inout SeededGenerator) -> [String] {
        let names = ["x", "y", "d/x", "d/y", "e", "e/x", "t"]
        let kinds = Call.allCases.filter { $0 != .open && $0 != .late }
            .filter { $0 == .save || Int.random(in: 0..<3, using: &dice) > 0 }
        var steps = (0..<Int.random(in: 3...14, using: &dice)).compactMap { _ -> String? in
            if Int.random(in: 0..<5, using: &dice) == 0 { return "!" }
            guard let call = kinds.randomElement(using: &dice), let name = names.randomElement(using: &dice),
                let other = names.filter({ $0 != name }).randomElement(using: &dice)
            else { return nil }
            let person = Int.random(in: 0..<2, using: &dice)
            guard call == .wait else { return "\(person) \(call.rawValue) \(name) \(other)" }
            return "\(person) wait \([2, 20, 100].randomElement(using: &dice) ?? 2)"
        }
        steps.insert("!", at: Int.random(in: 0..<steps.count, using: &dice))
        return steps
    }

    func problems(after steps: [String]) throws -> [String] {
        comparesTimes = tree is EngineTree && !steps.contains { $0.contains("append") }
        for step in steps {
            if step == "!" {
                tree.clock.advance(seconds: 1)
                moments.append((tree.clock.now(), try photograph("")))
                continue
            }
            let words = step.split(separator: " ").map(String.init)
            guard let person = Int(words[0]), let call = Call(rawValue: words[1]) else { return ["what is \(step)?"] }
            let name = words.count > 2 ? words[2] : ""
            do { try perform(call, person, name, words.last ?? "") } catch is Errno {} catch is OperationError {}
        }
        for person in handles.indices { while !handles[person].isEmpty { close(person) } }
        var problems: [String] = []
        let rows = try tree.finder.history.told(after: 0, limit: 10_000).changes.map(\.change)
        for (index, moment) in moments.enumerated() {
            let copy = "copy\(index)"
            do {
                let outcome = try restore(moment.time, to: path(copy))
                problems += compare(try photograph(copy), moment.tree, "copy \(index)", outcome)
            } catch { problems.append("copy \(index): \(error)") }
        }
        for (index, moment) in moments.enumerated().reversed() {
            do {
                let outcome = try restore(moment.time)
                problems += compare(try photograph(""), moment.tree, "in place \(index)", outcome)
                // And there it stays.
                let again = try restore(moment.time)
                if again.entries + again.displaced > 0 {
                    problems.append("again \(index): \(again.entries) entries, \(again.displaced) displaced")
                }
                problems += compare(try photograph(""), moment.tree, "again \(index)", again)
            } catch { problems.append("in place \(index): \(error)") }
        }
        problems += try lost()
        guard !problems.isEmpty else { return [] }
        return problems + rows.map { row in
            "    \(row.time.nanoseconds / 1_000_000 % 10_000_000) \(row.event) "
                + "\(row.from.map { "\($0) -> " } ?? "")\(row.path) "
                + "\(row.item?.short ?? "-") \(row.version?.short ?? "-") \(row.detail)"
        } + moments.map { "    moment \($0.time.nanoseconds / 1_000_000 % 10_000_000)" }
    }

    private func restore(_ time: Timestamp, to target: TreePath? = nil) throws -> RestoreOutcome {
        try tree.operations.restoreDirectory(.root, at: time, to: target, as: my) { _ in }
    }

    private func compare(
        _ found: [String: String], _ expected: [String: String], _ what: String, _ outcome: RestoreOutcome
    ) -> [String] {
        guard found != expected else { return outcome.problems.map { "\(what): \($0.path): \($0.problem.message)" } }
        let differing = Set(found.keys).union(expected.keys).sorted().filter { name in
            // What has parted and shares its file still is left as it is.
            let isTold = outcome.problems.contains {
                $0.path.description == name && $0.problem.message.contains("shares its file")
            }
            if isTold { return false }
            return found[name] != expected[name]
                && (found[name] != nil || !traceless.contains { name == $0 || name.hasSuffix("/\($0)") })
        }
        return differing.map { "\(what): \($0) is \(found[$0] ?? "not there"), was \(expected[$0] ?? "not there")" }
    }

    /// Every name below a directory, with what it is.
    private func photograph(_ directory: String) throws -> [String: String] {
        let top = "\(tree.path)/\(directory)"
        var picture: [String: String] = [:]
        var pending = try FileManager.default.contentsOfDirectory(atPath: top).filter { $0 != ".versionsfs" }
        while let name = pending.popLast() {
            var status = stat()
            guard lstat("\(top)/\(name)", &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                picture[name] = "a directory"
                pending += try FileManager.default.contentsOfDirectory(atPath: "\(top)/\(name)").map { "\(name)/\($0)" }
            case S_IFLNK:
                let target = try FileManager.default.destinationOfSymbolicLink(atPath: "\(top)/\(name)")
                picture[name] = "a link to \(target)"
            default:
                picture[name] = "'\(try String(contentsOfFile: "\(top)/\(name)", encoding: .utf8))'"
                guard comparesTimes else { continue }
                picture[name]? += " \(status.st_mode) \(status.st_mtim.tv_sec) s \(status.st_mtim.tv_nsec)"
            }
        }
        return picture
    }

    private func perform(_ call: Call, _ person: Int, _ name: String, _ other: String) throws {
        switch call {
        case .save: try save(person, name)
        case .append: try save(person, name, appends: true)
        case .other:
            // By a name that no pattern knows.
            try save(person, name + ".fresh")
            try rename(person, name + ".fresh", name)
        case .replace:
            try save(person, "\(name).tmp\(callers[person].thread)")
            try rename(person, "\(name).tmp\(callers[person].thread)", name)
        case .backUp:
            try rename(person, name, name + "~")
            try save(person, name)
            try unlink(person, name + "~")
        case .rename: try rename(person, name, other)
        case .exchange: try rename(person, name, other, linux_RENAME_EXCHANGE)
        case .unlink: try unlink(person, name)
        case .remove: try remove(person, name)
        case .link:
            guard let source = try find(person, name) else { return }
            let (parent, last) = try split(person, other)
            _ = try tree.requests.link(callers[person], node: source, parent: parent, name: last)
        case .symlink:
            let (parent, last) = try split(person, name)
            count += 1
            let target = Array("\(count)".utf8)
            _ = try tree.requests.makeSymlink(callers[person], parent: parent, name: last, target: target)
        case .directory:
            let (parent, last) = try split(person, name)
            _ = try tree.requests.makeDirectory(callers[person], parent: parent, name: last, mode: 0o755)
        case .conflict:
            _ = try tree.operations.simulateConflict(tree.finder.document(at: path(name), as: my), as: my)
            _ = try tree.operations.resolve(
                tree.finder.document(at: path(name), as: my), .current, seen: nil, as: my)
        case .wait: tree.clock.advance(seconds: Int64(name) ?? 0)
        case .open: _ = try open(person, name, flags: O_WRONLY)
        case .late:
            guard let handle = handles[person].last else { return }
            try write(person, handle)
            close(person)
        }
    }

    private func find(_ person: Int, _ name: String) throws -> UInt64? {
        var node = Node.rootID
        for part in name.split(separator: "/") {
            guard let next = try tree.requests.lookup(callers[person], parent: node, name: Array(part.utf8))?.node
            else { return nil }
            node = next
        }
        return node
    }

    private func split(_ person: Int, _ name: String) throws -> (parent: UInt64, last: [UInt8]) {
        let parts = name.split(separator: "/")
        guard let last = parts.last, let parent = try find(person, parts.dropLast().joined(separator: "/")) else {
            throw Errno.noSuchFileOrDirectory
        }
        return (parent, Array(last.utf8))
    }

    private func open(_ person: Int, _ name: String, flags: Int32) throws -> Bool {
        if let node = try find(person, name) {
            guard let status = try? tree.requests.attributes(callers[person], node: node, handle: nil).stat,
                status.st_mode & S_IFMT == S_IFREG,
                let reply = try tree.requests.open(callers[person], node: node, flags: flags, waiting: nil)
            else { return false }
            handles[person].append((node, reply.handle))
        } else {
            let (parent, last) = try split(person, name)
            let made = try tree.requests.create(
                callers[person], parent: parent, name: last, mode: 0o644, flags: flags & ~O_TRUNC | O_CREAT)
            handles[person].append((made.found.node, made.reply.handle))
        }
        return true
    }

    private func write(_ person: Int, _ handle: (node: UInt64, id: UInt64), appends: Bool = false) throws {
        count += 1
        let offset = appends
            ? try tree.requests.attributes(callers[person], node: handle.node, handle: handle.id).stat.st_size : 0
        _ = try Array("\(count) ".utf8).withUnsafeBytes {
            try tree.requests.write(
                callers[person], node: handle.node, handle: handle.id, $0, offset: offset, flags: nil)
        }
    }

    private func save(_ person: Int, _ name: String, appends: Bool = false) throws {
        let flags = O_WRONLY | (appends ? O_APPEND : O_TRUNC)
        guard try open(person, name, flags: flags), let handle = handles[person].last else { return }
        try write(person, handle, appends: appends)
        close(person)
        guard !isMadeUp(name, by: person), !name.hasSuffix("~") else { return }
        saved.insert(try String(contentsOfFile: "\(tree.path)/\(name)", encoding: .utf8))
    }

    private func isMadeUp(_ name: String, by person: Int) -> Bool {
        name.hasSuffix(".tmp\(callers[person].thread)")
    }

    /// What was saved and is in no version. What is appended to goes on as one version.
    private func lost() throws -> [String] {
        guard let tree = tree as? EngineTree else { return [] }
        let versions = try tree.facts.lists.documents(after: nil, limit: 10_000).elements.flatMap { document in
            try tree.facts.lists.id(of: document).map { try tree.finder.history.versions(of: $0) } ?? []
        }
        let texts = try versions.map { version in
            let record = DocumentRecord(path: .root, item: version.item, versions: [version])
            let content = try tree.finder.content(of: version, in: record)
            var bytes = [UInt8](repeating: 0, count: Int(content.size))
            let count = pread(content.raw, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
        return saved.filter { text in !texts.contains { $0.hasPrefix(text) } }.sorted().map { "'\($0)' is lost" }
    }

    private func close(_ person: Int) {
        guard let handle = handles[person].popLast() else { return }
        tree.requests.flush(callers[person], handle: handle.id)
        tree.requests.release(node: handle.node, handle: handle.id)
    }

    private func rename(_ person: Int, _ name: String, _ other: String, _ flags: UInt32 = 0) throws {
        let (from, to) = (try split(person, name), try split(person, other))
        // As the kernel does.
        if "\(other)/".hasPrefix("\(name)/") || "\(name)/".hasPrefix("\(other)/") { throw Errno.invalidArgument }
        try tree.requests.rename(
            callers[person], parent: from.parent, name: from.last, newParent: to.parent, newName: to.last, flags: flags)
        // What it was until then is in the facts of the name that it has now.
        if tree is EngineTree { noteTraceless(person, name) }
    }

    private func unlink(_ person: Int, _ name: String) throws {
        let (parent, last) = try split(person, name)
        try tree.requests.unlink(callers[person], parent: parent, name: last)
        noteTraceless(person, name)
    }

    private func noteTraceless(_ person: Int, _ name: String) {
        guard isMadeUp(name, by: person), let last = name.split(separator: "/").last else { return }
        traceless.insert(String(last))
    }

    private func remove(_ person: Int, _ name: String) throws {
        do { try unlink(person, name) } catch Errno.isDirectory {
            for inner in try FileManager.default.contentsOfDirectory(atPath: "\(tree.path)/\(name)") {
                try remove(person, "\(name)/\(inner)")
            }
            let (parent, last) = try split(person, name)
            try tree.requests.removeDirectory(callers[person], parent: parent, name: last)
        }
    }
}
