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
        "0 save x; !; 0 save y; 0 save y; 1 rename y x",
        "0 save x; 0 save y; !; 0 save x; 0 link x t; 0 rename x y",
        "0 save x; 1 save y; !; 1 backUp y; 0 rename y x; 0 replace y",
        "0 save x; 0 link x y; !; 0 unlink y",
        // A second return to the same moment finds nothing to do.
        "0 save x; !; 0 rename x y; 0 save x",
        "0 save e; !; 0 symlink t; 0 remove e; 0 rename t e; 1 rename e t; 0 save e",
        "0 save e; !; 0 symlink t; 0 remove e; 0 rename t e; !; 1 rename e t; 0 save e",
        "1 directory y; 1 directory e; !; 0 rename y e; 0 remove e",
        "0 save x; 0 save y; !; 0 rename x t; 0 rename y x; 0 rename t y",
        "0 save x; 0 save y; !; 0 rename x t; 0 rename y x; !; 0 rename t y",
        "0 directory e; 0 save e/x; !; 0 rename d t; 0 rename e d; 0 rename t e; 0 save d/y",
        "0 save x; 0 save y; 0 link y t; !; 1 unlink t; 1 rename y x",
        "0 replace t; 1 link t y; !; 0 remove t; !; 0 append y",
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
        // One of them is of a file that has others.
        "0 other d/y; 0 link d/y x; !; 0 other e; 1 exchange e x",
        "1 replace t; 1 save d/x; 0 link d/x y; 1 append y; 1 exchange t d/x; !",
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
        "!; !; 0 directory e; 0 other e/x",
        "0 save x; !; 0 directory e; 0 rename x e/x; 0 remove e",
        // What was there before came back, and not what was there last.
        "0 symlink x; !; !; 0 replace x; 0 rename x t",
        "0 symlink x; !; !; 0 unlink x; 0 directory x; 0 rename x t",
        "0 other x; !; 0 unlink x; 0 other x",
        // One of two names of a file gets a file of its own, which goes on as the document.
        "0 save x; !; 0 save x; 0 link x y; 0 backUp y",
        "0 replace x; !; 0 backUp x; 0 link x y; 0 backUp y",
        "0 save y; 0 link y x; 0 backUp y; !; 1 save y",
        "0 save t; !; 0 link t y; 1 append t; 1 replace y",
        // Names that have parted while they still share their file: it is told that one is not what it was.
        "0 save x; 0 save y; 0 link y t; !; 0 rename y x",
        // The last name of a document goes, and its file stays as another's.
        "1 symlink d/y; 0 save x; 1 other t; 0 link x d/x; 1 rename x t; !; 0 rename d/y d/x",
        "1 save d/y; 0 replace x; !; 0 link d/y e; 1 rename d/y x",
        "1 other x; 1 rename x y; 0 rename y e; 1 link e d/x; 1 save d/y; !; 0 rename d/x d/y; 1 backUp e",
        // A backup's name of a file of several.
        "0 replace e; !; 1 link e y; 0 backUp y; 1 backUp e",
        // A name that its program made up stays behind, because it could not be renamed.
        "0 directory x; !; 0 replace x",
        "0 directory x; 0 replace x; !; 0 save y; 0 replace x",
        "0 directory d/x; !; 0 replace d/x; !; 1 remove d",
        "0 directory d/x; !; 0 replace d/x; !; 0 rename d y; 1 remove y",
        "0 directory e; 0 directory e/x; 0 exchange e d; !; 0 replace d/x; 0 rename d y",
        "0 directory d/x; 0 replace d/x; !; 0 remove d/x; 0 replace d/x; !; 0 unlink d/x",
    ]

    /// The containers of both cores.
    enum Core: CaseIterable {
        case former, engine

        func container() throws -> any PlayedContainer {
            switch self {
            case .former: try BrowsedContainer()
            case .engine: try EngineTree()
            }
        }
    }

    @Test("what once came back wrong is what it was", arguments: Core.allCases, found)
    func foundBefore(core: Core, steps: String) throws {
        let people = try (0..<2).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        let play = try PastPlay(people.map(\.pid), core.container())
        let problems = try play.problems(after: steps.components(separatedBy: "; "))
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("whatever was done since, a moment's tree is brought back as it was", arguments: Core.allCases)
    func anyOrder(core: Core) throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? (Workplace.isFull ? UInt64.random(in: 0 ... .max) : 20_261_122)
        let rounds = Workplace.count(2_000)
        print("RestoringThePastTests: seed \(seed), \(rounds) times")
        let people = try (0..<2).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        let play = { (steps: [String]) throws in
            try PastPlay(people.map(\.pid), core.container()).problems(after: steps)
        }
        for round in 0..<rounds {
            var dice = SeededGenerator(seed: seed &+ UInt64(round))
            let steps = PastPlay.draw(using: &dice)
            guard try !play(steps).isEmpty else { continue }
            let rest = try shortest(steps) { try !play($0).isEmpty }
            let problems = try play(rest)
            Issue.record("\(core) round \(round): \(rest.joined(separator: "; "))\n\(problems.joined(separator: "\n"))")
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
        let people = try (0..<2).map { _ in try Child(Child.Start("/bin/sleep", ["600"])) }
        defer { for person in people { person.kill() } }
        let callers = people.map { Caller(user: getuid(), group: getgid(), thread: $0.pid, umask: 0o022) }
        let own = "x.tmp\(people[0].pid)"
        let made = try tree.container.create(
            callers[0], parent: Node.rootID, name: Array(own.utf8), mode: 0o644, flags: O_WRONLY)
        tree.container.flush(callers[0], handle: made.reply.handle)
        tree.container.release(node: made.found.node, handle: made.reply.handle)
        let then = tree.clock.now()
        _ = try tree.container.link(callers[1], node: tree.node(own), parent: Node.rootID, name: Array("y".utf8))
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
