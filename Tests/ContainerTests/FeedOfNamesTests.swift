// Two programs make, rename, replace and remove the same names: the change feed tells of each that came or went.

import CLinux
import Foundation
import Glibc
import Support
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite(.serialized) struct FeedOfNamesTests {
    /// What random orders have found, each as short as it can be said.
    static let found = [
        // The same content comes back to a name.
        "0 save x; 0 rename x y; 0 save x",
        "0 save x; 0 unlink x; 1 save x",
        // One of several names is renamed over another file.
        "0 save x; 1 save y; 1 save y; 0 link x t; 0 rename x y",
        // A file that was made and renamed, and not saved yet, is renamed over another.
        "0 save y; 0 open x; 0 rename x t; 0 rename t y",
        "0 save x; 0 save y; 0 rename x t; 0 open x; 0 rename x t; 0 open x; 0 rename t y",
        // What was written under a name that its program made up takes the place of what is no file.
        "0 symlink x; 0 replace x; 0 unlink x",
        "0 directory x; 0 symlink y; 1 replace y; 0 rename y t",
        // A link is made of what is not saved yet.
        "0 open x; 0 link x y; 0 rename y t",
        "0 open x; 0 link x y; 0 close",
        "0 symlink x; 0 link x y",
        // One of two names of what is not saved yet is renamed over. (The daemon ended at that.)
        "0 save t; 0 open x; 0 link x y; 0 rename t x; 0 close",
        // A program's own name was told of, because it was saved over, before it goes.
        "0 leave x; 0 leave x; 0 take x",
        "0 save x; 0 backUp x; 0 save x; 0 dropBackup x",
        "0 save x; 1 link x t; 0 backUp t; 0 save t; 0 dropBackup t",
        "0 save x; 0 save y; 0 backUp x; 1 restoreOver x y",
        "0 directory x; 0 symlink y; 0 exchange x y",
    ]

    @Test("what once was missed is told", arguments: found)
    func foundBefore(steps: String) throws {
        let people = try (0..<2).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        let problems = try FeedPlay(people.map(\.pid)).problems(after: steps.components(separatedBy: "; "))
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("in whatever order two programs make and take away names, what the feed tells is what is there")
    func anyOrder() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? (Workplace.isFull ? UInt64.random(in: 0 ... .max) : 20_261_122)
        let rounds = Workplace.count(3_000)
        print("FeedOfNamesTests: seed \(seed), \(rounds) times")
        let people = try (0..<2).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        let play = { (steps: [String]) throws in try FeedPlay(people.map(\.pid)).problems(after: steps) }
        for round in 0..<rounds {
            var dice = SeededGenerator(seed: seed &+ UInt64(round))
            let steps = FeedPlay.draw(using: &dice)
            guard try !play(steps).isEmpty else { continue }
            let rest = try shortest(steps) { try !play($0).isEmpty }
            let problems = try play(rest)
            Issue.record("round \(round): \(rest.joined(separator: "; "))\n\(problems.joined(separator: "\n"))")
            return
        }
    }
}

/// The steps done with a container; what cannot be done is passed over.
private final class FeedPlay {
    private enum Call: String, CaseIterable {
        case save, other, open, close, rename, unlink, link, symlink, directory, replace, exchange
        /// A file under a name of the program's own is left behind, and taken away.
        case leave, take
        /// An editor's backup.
        case backUp, dropBackup, restoreOver
    }

    private let tree: BrowsedContainer
    private let callers: [Caller]
    private var handles: [[(node: UInt64, id: UInt64)]]

    init(_ processes: [pid_t]) throws {
        tree = try BrowsedContainer()
        callers = processes.map { Caller(user: getuid(), group: getgid(), thread: $0, umask: 0o022) }
        handles = processes.map { _ in [] }
    }

    static func draw(using dice: inout SeededGenerator) -> [String] {
        let names = ["x", "y", "t"]
        let kinds = Call.allCases.filter { $0 == .save || Int.random(in: 0..<3, using: &dice) > 0 }
        return (0..<Int.random(in: 3...14, using: &dice)).compactMap { _ in
            guard let call = kinds.randomElement(using: &dice), let name = names.randomElement(using: &dice),
                let other = names.filter({ $0 != name }).randomElement(using: &dice)
            else { return nil }
            return "\(Int.random(in: 0..<2, using: &dice)) \(call.rawValue) \(name) \(other)"
        }
    }

    func problems(after steps: [String]) throws -> [String] {
        for step in steps {
            let words = step.split(separator: " ").map(String.init)
            guard let person = Int(words[0]), let call = Call(rawValue: words[1]) else { return ["what is \(step)?"] }
            let name = words.count > 2 ? words[2] : ""
            do { try perform(call, person, name, words.last ?? "") } catch is Errno {}
        }
        for person in handles.indices { while !handles[person].isEmpty { close(person) } }
        let rows = try tree.container.store.changes(after: 0, limit: 10_000).map(\.1)
        var told: Set<String> = []
        for row in rows {
            let path = String(decoding: row.path.bytes, as: UTF8.self)
            if let from = row.from { told.remove(String(decoding: from.bytes, as: UTF8.self)) }
            if row.event == .deleted { told.remove(path) } else { told.insert(path) }
        }
        let isOwn = { (name: String) in name.contains(".tmp") }
        let there = Set(try FileManager.default.contentsOfDirectory(atPath: tree.path).filter { $0 != ".versionsfs" })
        // What a program has made up for itself may be told of, if others had to do with it.
        let missed = there.filter { !isOwn($0) }.subtracting(told)
        let kept = told.subtracting(there)
        guard !missed.isEmpty || !kept.isEmpty else { return [] }
        return ["came, untold: \(missed.sorted()); went, untold: \(kept.sorted())"]
            + rows.map { "    \($0.event) \($0.from.map { "\($0) -> " } ?? "")\($0.path)" }
    }

    private func perform(_ call: Call, _ person: Int, _ name: String, _ other: String) throws {
        let own = "\(name).tmp\(callers[person].thread)"
        switch call {
        case .save: try save(person, name, "the same")
        case .other: try save(person, name, "something else")
        case .open: _ = try open(person, name)
        case .close: close(person)
        case .rename: try rename(person, name, other)
        case .exchange: try rename(person, name, other, linux_RENAME_EXCHANGE)
        case .unlink, .take: try remove(person, call == .take ? own : name)
        case .link:
            guard let source = try find(person, name) else { return }
            _ = try tree.container.link(callers[person], node: source, parent: Node.rootID, name: Array(other.utf8))
        case .symlink:
            _ = try tree.container.makeSymlink(
                callers[person], parent: Node.rootID, name: Array(name.utf8), target: [97])
        case .directory:
            _ = try tree.container.makeDirectory(
                callers[person], parent: Node.rootID, name: Array(name.utf8), mode: 0o755)
        case .leave: try save(person, own, "the same")
        case .replace:
            try save(person, own, "the same")
            try rename(person, own, name)
        case .backUp: try rename(person, name, name + "~")
        case .dropBackup: try remove(person, name + "~")
        case .restoreOver: try rename(person, name + "~", other)
        }
    }

    private func find(_ person: Int, _ name: String) throws -> UInt64? {
        try tree.container.lookup(callers[person], parent: Node.rootID, name: Array(name.utf8))?.node
    }

    private func open(_ person: Int, _ name: String) throws -> Bool {
        if let node = try find(person, name) {
            guard let status = try? tree.container.attributes(callers[person], node: node, handle: nil).stat,
                status.st_mode & S_IFMT == S_IFREG,
                let reply = try tree.container.open(callers[person], node: node, flags: O_WRONLY | O_TRUNC)
            else { return false }
            handles[person].append((node, reply.handle))
        } else {
            let made = try tree.container.create(
                callers[person], parent: Node.rootID, name: Array(name.utf8), mode: 0o644, flags: O_WRONLY | O_CREAT)
            handles[person].append((made.found.node, made.reply.handle))
        }
        return true
    }

    private func save(_ person: Int, _ name: String, _ text: String) throws {
        guard try open(person, name), let handle = handles[person].last else { return }
        _ = try Array(text.utf8).withUnsafeBytes {
            try tree.container.write(callers[person], node: handle.node, handle: handle.id, $0, offset: 0)
        }
        close(person)
    }

    private func close(_ person: Int) {
        guard let handle = handles[person].popLast() else { return }
        tree.container.flush(callers[person], handle: handle.id)
        tree.container.release(node: handle.node, handle: handle.id)
    }

    private func rename(_ person: Int, _ name: String, _ other: String, _ flags: UInt32 = 0) throws {
        try tree.container.rename(
            callers[person], parent: Node.rootID, name: Array(name.utf8), newParent: Node.rootID,
            newName: Array(other.utf8), flags: flags)
    }

    private func remove(_ person: Int, _ name: String) throws {
        do {
            try tree.container.unlink(callers[person], parent: Node.rootID, name: Array(name.utf8))
        } catch Errno.isDirectory {
            try tree.container.removeDirectory(callers[person], parent: Node.rootID, name: Array(name.utf8))
        }
    }
}
