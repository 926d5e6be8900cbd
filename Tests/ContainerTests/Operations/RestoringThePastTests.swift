// `restore DIR --at T`, in place and as a copy, gives the very tree that was there: what was found by hand, and random
// play with names and contents.

import CLinux
import Foundation
import Glibc
import Support
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite(.serialized) struct RestoringThePastTests: OperationTesting {
    /// Each as short as it can be said; `!` is a moment whose tree is brought back at the end.
    static let found = [
        // A document of one version is renamed over another.
        "0 save x; 0 save y; !; 0 rename y x",
        "0 save x; 0 save y; !; 0 wait 20; 0 rename y x",
        "0 save x; 0 save y; !; 0 unlink x; 0 rename y x",
        "0 save x; 0 link x y; !; 0 unlink y",
        // A name that had been away comes back.
        "0 save x; 0 rename x y; !; 0 save x; 0 rename x y",
        "0 save x; 0 unlink x; !; 0 save x",
        "0 save x; 0 unlink x; !; 1 save x; 1 unlink x; 1 save x",
        "0 save x; !; 0 unlink x; 0 save x",
        "0 save x; !; 0 rename x y; 0 save x; 0 unlink y",
        "0 save x; 0 rename x y; !; 0 rename y z; 0 save x",
        // What was never in the file.
        "0 save x; !; 0 conflict x; !; 0 save x",
        "0 save x; 0 open x; 0 save y; 0 rename y x; 0 late; !; 0 save x",
        // Two names change places.
        "0 save x; !; 0 directory y; 0 exchange y x",
        "0 save d/x; 0 directory y; !; 0 exchange y d/x; 0 save y; 0 save d/x/z",
        "0 save x; 0 symlink y; !; 0 exchange x y; !; 0 exchange y x",
        // Appended files.
        "0 append x; !; 0 append x",
        "0 save x; 0 append x; !; 0 append x; !; 0 append x; 0 save x",
        "0 append x; !; 0 append x; 0 unlink x",
        "0 append x; !; 0 append x; 0 rename x y; 0 save x",
        "0 save x; 0 append y; !; 0 append y; 0 rename y x",
        "0 append x; 0 wait 100; !; 0 append x; 0 append x",
        // A directory that is not there any more, or elsewhere.
        "0 save d/x; !; 0 remove d",
        "0 save d/x; !; 0 remove d; 0 save d",
        "0 save d/x; !; 0 rename d y; 0 save y/z; 0 save y/x; 0 rename y/x y/t",
        // A name that its program made up stays behind, because it could not be renamed.
        "0 directory x; !; 0 replace x",
        "0 directory x; 0 replace x; !; 0 save y; 0 replace x",
        "0 directory d/x; !; 0 replace d/x; !; 1 remove d",
        "0 directory d/x; !; 0 replace d/x; !; 0 rename d y; 1 remove y",
        "0 directory e; 0 directory e/x; 0 exchange e d; !; 0 replace d/x; 0 rename d y",
        "0 directory d/x; 0 replace d/x; !; 0 remove d/x; 0 replace d/x; !; 0 unlink d/x",
    ]

    @Test("what once came back wrong is what it was", arguments: found)
    func foundBefore(steps: String) throws {
        let people = try (0..<2).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        let problems = try PastPlay(people.map(\.pid)).problems(after: steps.components(separatedBy: "; "))
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("whatever was done since, a moment's tree is brought back as it was")
    func anyOrder() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? (Workplace.isFull ? UInt64.random(in: 0 ... .max) : 20_261_122)
        let rounds = Workplace.count(2_000)
        print("RestoringThePastTests: seed \(seed), \(rounds) times")
        let people = try (0..<2).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        let play = { (steps: [String]) throws in try PastPlay(people.map(\.pid)).problems(after: steps) }
        for round in 0..<rounds {
            var dice = SeededGenerator(seed: seed &+ UInt64(round))
            var rest = PastPlay.draw(using: &dice)
            guard try !play(rest).isEmpty else { continue }
            // The shortest that fails: what can be left out is.
            var index = 0
            while index < rest.count {
                var fewer = rest
                fewer.remove(at: index)
                if try play(fewer).isEmpty { index += 1 } else { rest = fewer }
            }
            let problems = try play(rest)
            Issue.record("round \(round): \(rest.joined(separator: "; "))\n\(problems.joined(separator: "\n"))")
            return
        }
    }

    @Test("a directory that is gone, or renamed, comes back in place with what is in it", arguments: [false, true])
    func lostDirectory(isRemoved: Bool) throws {
        let tree = try BrowsedContainer()
        for name in ["d", "d/sub"] { try tree.makeDirectory(name) }
        try tree.save("d/sub/a", "a")
        let then = tree.clock.now()
        tree.clock.advance(seconds: 20)
        if isRemoved {
            try tree.unlink("d/sub/a")
            for name in ["d/sub", "d"] { try tree.removeDirectory(name) }
        } else {
            try tree.move("d", to: "e")
            try tree.save("e/sub/a", "newer")
            try tree.save("e/new", "new")
        }
        _ = try tree.container.restoreDirectory(path("d"), at: then, as: my)
        #expect(try tree.live("d/sub/a") == "a")
        #expect(access("\(tree.path)/d/new", F_OK) != 0 && access("\(tree.path)/e", F_OK) != 0)
    }

    @Test("the whole container is copied into a directory of it")
    func wholeContainer() throws {
        let tree = try BrowsedContainer()
        try tree.makeDirectory("d")
        try tree.save("d/a", "a")
        let then = tree.clock.now()
        try tree.save("d/a", "b")
        _ = try tree.container.restoreDirectory(.root, at: then, to: path("copy"), as: my)
        #expect(try tree.live("copy/d/a") == "a")
        #expect(access("\(tree.path)/copy/copy", F_OK) != 0 && access("\(tree.path)/copy/.versionsfs", F_OK) != 0)
    }

    @Test("a pinned version is there still when its file was renamed over another")
    func pinned() throws {
        let tree = try BrowsedContainer()
        for name in ["x", "y"] { try tree.save(name, name) }
        let document = try tree.container.document(at: path("y"), as: my)
        let version = try #require(document.current)
        _ = try tree.container.pin(version, of: document, true, as: my)
        try tree.move("y", to: "x")
        try tree.save("x", "newer")
        let found = try #require(try tree.container.store.version(version.id))
        #expect(try text(found, try tree.container.document(found.item, as: my), tree) == "y")
    }

    @Test("a program's own name that somebody links is told of with its time")
    func linked() throws {
        let tree = try BrowsedContainer()
        let before = tree.clock.now()
        let own = "x.tmp\(getpid())"
        try tree.save(own, "x")
        let then = tree.clock.now()
        _ = try tree.container.link(tree.caller, node: tree.node(own), parent: Node.rootID, name: Array("y".utf8))
        for time in [then, before] {
            let outcome = try tree.container.restoreDirectory(.root, at: time, as: my)
            #expect(outcome.problems.isEmpty)
            let names = try FileManager.default.contentsOfDirectory(atPath: tree.path).filter { $0 != ".versionsfs" }
            #expect(names == (time == then ? [own] : []))
        }
    }

    @Test("what was made since and is being written stays in place, and is in no copy", arguments: ["x.tmp", "x"])
    func beingWritten(name: String) throws {
        let tree = try BrowsedContainer()
        try tree.save("a", "a")
        let then = tree.clock.now()
        let name = name == "x" ? name : "\(name)\(getpid())"
        let made = try tree.container.create(
            tree.caller, parent: Node.rootID, name: Array(name.utf8), mode: 0o644, flags: O_WRONLY)
        defer { tree.container.release(node: made.found.node, handle: made.reply.handle) }
        _ = try tree.container.restoreDirectory(.root, at: then, to: path("copy"), as: my)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(tree.path)/copy") == ["a"])
        let outcome = try tree.container.restoreDirectory(.root, at: then, as: my)
        #expect(outcome.problems.map(\.path) == [try path(name)])
        #expect(access("\(tree.path)/\(name)", F_OK) == 0)
    }

    @Test("what was appended to is cut where it ended; what was changed otherwise is told of")
    func told() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "one", flags: O_APPEND)
        let then = tree.clock.now()
        try tree.save("x", "two", flags: O_APPEND)
        let exact = try tree.container.restoreDirectory(.root, at: then, to: path("copy"), as: my)
        #expect(try tree.live("copy/x") == "one" && exact.problems.isEmpty)
        // One save that goes on: what it had written by then nobody has kept.
        let node = try tree.node("x")
        let handle = try #require(try tree.container.open(tree.caller, node: node, flags: O_WRONLY)).handle
        try tree.write("ONE", node, handle, at: 0)
        tree.container.flush(tree.caller, handle: handle)
        let meanwhile = tree.clock.now()
        try tree.write("TWO", node, handle, at: 3)
        tree.container.flush(tree.caller, handle: handle)
        tree.container.release(node: node, handle: handle)
        let outcome = try tree.container.restoreDirectory(.root, at: meanwhile, to: path("other"), as: my)
        #expect(try tree.live("other/x") == "onetwo")
        #expect(outcome.problems.map(\.path) == [try path("other/x")])
    }
}

/// The steps done with a container; what cannot be done is passed over.
private final class PastPlay: OperationTesting {
    private enum Call: String, CaseIterable {
        case save, append, other, replace, backUp, rename, exchange, unlink, remove, link, symlink, directory, conflict
        case wait
        /// A file is opened, and written to after others had to do with it.
        case open, late
    }

    private let tree: BrowsedContainer
    private let callers: [Caller]
    private var handles: [[(node: UInt64, id: UInt64)]]
    private var moments: [(time: Timestamp, tree: [String: String])] = []
    private var count = 0
    /// What a program has made up for itself and taken away again leaves no trace.
    private var traceless: Set<String> = []

    init(_ processes: [pid_t]) throws {
        tree = try BrowsedContainer()
        callers = processes.map { Caller(user: getuid(), group: getgid(), thread: $0, umask: 0o022) }
        handles = processes.map { _ in [] }
        try tree.makeDirectory("d")
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
        let rows = try tree.container.store.changes(after: 0, limit: 10_000).map(\.1)
        for (index, moment) in moments.enumerated() {
            let copy = "copy\(index)"
            do {
                let outcome = try tree.container.restoreDirectory(.root, at: moment.time, to: path(copy), as: my)
                problems += compare(try photograph(copy), moment.tree, "copy \(index)", outcome)
            } catch { problems.append("copy \(index): \(error)") }
        }
        for (index, moment) in moments.enumerated().reversed() {
            do {
                let outcome = try tree.container.restoreDirectory(.root, at: moment.time, as: my)
                problems += compare(try photograph(""), moment.tree, "in place \(index)", outcome)
            } catch { problems.append("in place \(index): \(error)") }
        }
        guard !problems.isEmpty else { return [] }
        return problems + rows.map { row in
            "    \(row.time.nanoseconds / 1_000_000 % 10_000_000) \(row.event) "
                + "\(row.from.map { "\($0) -> " } ?? "")\(row.path) "
                + "\(row.item?.short ?? "-") \(row.version?.short ?? "-") \(row.detail)"
        } + moments.map { "    moment \($0.time.nanoseconds / 1_000_000 % 10_000_000)" }
    }

    private func compare(
        _ found: [String: String], _ expected: [String: String], _ what: String, _ outcome: RestoreOutcome
    ) -> [String] {
        guard found != expected else { return outcome.problems.map { "\(what): \($0.path): \($0.problem.message)" } }
        let differing = Set(found.keys).union(expected.keys).sorted().filter { name in
            found[name] != expected[name]
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
            default: picture[name] = "'\(try String(contentsOfFile: "\(top)/\(name)", encoding: .utf8))'"
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
            _ = try tree.container.link(callers[person], node: source, parent: parent, name: last)
        case .symlink:
            let (parent, last) = try split(person, name)
            count += 1
            let target = Array("\(count)".utf8)
            _ = try tree.container.makeSymlink(callers[person], parent: parent, name: last, target: target)
        case .directory:
            let (parent, last) = try split(person, name)
            _ = try tree.container.makeDirectory(callers[person], parent: parent, name: last, mode: 0o755)
        case .conflict:
            _ = try tree.container.simulateConflict(tree.container.document(at: path(name), as: my), as: my)
            _ = try tree.container.resolve(tree.container.document(at: path(name), as: my), .current, as: my)
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
            guard let next = try tree.container.lookup(callers[person], parent: node, name: Array(part.utf8))?.node
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
            guard let status = try? tree.container.attributes(callers[person], node: node, handle: nil).stat,
                status.st_mode & S_IFMT == S_IFREG,
                let reply = try tree.container.open(callers[person], node: node, flags: flags)
            else { return false }
            handles[person].append((node, reply.handle))
        } else {
            let (parent, last) = try split(person, name)
            let made = try tree.container.create(
                callers[person], parent: parent, name: last, mode: 0o644, flags: flags & ~O_TRUNC | O_CREAT)
            handles[person].append((made.found.node, made.reply.handle))
        }
        return true
    }

    private func write(_ person: Int, _ handle: (node: UInt64, id: UInt64), appends: Bool = false) throws {
        count += 1
        let offset = appends
            ? try tree.container.attributes(callers[person], node: handle.node, handle: handle.id).stat.st_size : 0
        _ = try Array("\(count) ".utf8).withUnsafeBytes {
            try tree.container.write(callers[person], node: handle.node, handle: handle.id, $0, offset: offset)
        }
    }

    private func save(_ person: Int, _ name: String, appends: Bool = false) throws {
        let flags = O_WRONLY | (appends ? O_APPEND : O_TRUNC)
        guard try open(person, name, flags: flags), let handle = handles[person].last else { return }
        try write(person, handle, appends: appends)
        close(person)
    }

    private func close(_ person: Int) {
        guard let handle = handles[person].popLast() else { return }
        tree.container.flush(callers[person], handle: handle.id)
        tree.container.release(node: handle.node, handle: handle.id)
    }

    private func rename(_ person: Int, _ name: String, _ other: String, _ flags: UInt32 = 0) throws {
        let (from, to) = (try split(person, name), try split(person, other))
        // As the kernel does.
        if "\(other)/".hasPrefix("\(name)/") || "\(name)/".hasPrefix("\(other)/") { throw Errno.invalidArgument }
        try tree.container.rename(
            callers[person], parent: from.parent, name: from.last, newParent: to.parent, newName: to.last, flags: flags)
    }

    private func unlink(_ person: Int, _ name: String) throws {
        let (parent, last) = try split(person, name)
        try tree.container.unlink(callers[person], parent: parent, name: last)
        if name.hasSuffix(".tmp\(callers[person].thread)") { traceless.insert(String(decoding: last, as: UTF8.self)) }
    }

    private func remove(_ person: Int, _ name: String) throws {
        do { try unlink(person, name) } catch Errno.isDirectory {
            for inner in try FileManager.default.contentsOfDirectory(atPath: "\(tree.path)/\(name)") {
                try remove(person, "\(name)/\(inner)")
            }
            let (parent, last) = try split(person, name)
            try tree.container.removeDirectory(callers[person], parent: parent, name: last)
        }
    }
}
