// Undeletions that end in the middle: nothing is lost, what is missing is told, and asking again goes on.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct UnfinishedUndeletionTests: OperationTesting {
    private struct Stop: Error {}

    /// Two directories, one of them closed to its owner's writing, five documents and a name deleted twice; the
    /// photograph is from before all of it was deleted.
    private func deletedTree() throws -> (tree: BrowsedContainer, before: [String: String]) {
        let tree = try BrowsedContainer()
        for name in ["d", "d/closed"] { try tree.makeDirectory(name) }
        for name in ["a", "b", "closed/c", "closed/e", "z"] { try tree.save("d/\(name)", name) }
        try tree.save("d/b", "newer")
        for (name, time) in [("closed", 2000), ("a", 3000), ("", 4000)] {
            let times = [timespec(tv_sec: time, tv_nsec: 7), timespec(tv_sec: time, tv_nsec: 9)]
            try #require(utimensat(AT_FDCWD, "\(tree.path)/d/\(name)", times, 0) == 0)
        }
        try #require(chmod("\(tree.path)/d/closed", 0o2550) == 0)
        let before = try photograph("\(tree.path)/d")
        try remove(["a", "closed/c", "closed/e", "closed/", "b", "z", ""], tree)
        return (tree, before)
    }

    /// Names below `d`, directories ended by a slash; `d` itself for an empty one.
    private func remove(_ names: [String], _ tree: BrowsedContainer) throws {
        for name in names {
            if name.isEmpty { try tree.removeDirectory("d") } else if name.hasSuffix("/") {
                try tree.removeDirectory("d/\(name.dropLast())")
            } else {
                try tree.unlink("d/\(name)")
            }
        }
    }

    @Test("wherever a purge is ended, what is left comes back with its directory", arguments: 1...6)
    func stoppedPurge(_ end: Int) throws {
        let (tree, _) = try deletedTree()
        let container = tree.container
        let all = try container.deleted(within: nil, as: my).count
        let stopped = kind {
            _ = try container.purgeDeleted(before: nil, as: my) { done, _ in
                if done == end { throw OperationError(.cancelled, "the caller went away") }
            }
        }
        #expect(stopped == .cancelled)
        let outcome = try container.undelete(container.undeletable(at: path("d"), as: my), as: my)
        #expect(outcome.entries == all - end && outcome.problems.isEmpty, "\(outcome)")
        #expect(try container.deleted(within: nil, as: my).isEmpty)
    }

    @Test("what another undeletion brings back meanwhile is no failure")
    func twoAtOnce() throws {
        let (tree, before) = try deletedTree()
        let container = tree.container
        let what = try container.undeletable(at: path("d"), as: my)
        var others: [RestoreOutcome] = []
        // The second is asked for while the first is at work, and ends before it.
        let outcome = try container.undelete(what, as: my) { done in
            guard done == 2, others.isEmpty else { return }
            others.append(try container.undelete(container.undeletable(at: path("d"), as: my), as: my))
        }
        #expect(others.first?.problems.isEmpty == true && outcome.problems.isEmpty, "\(outcome) \(others)")
        #expect(try photograph("\(tree.path)/d") == before)
        #expect(try container.deleted(within: nil, as: my).isEmpty)
    }

    @Test("wherever an undeletion is ended, asking again brings back the rest, with modes and times", arguments: 1...6)
    func anywhere(_ end: Int) throws {
        let (tree, before) = try deletedTree()
        let container = tree.container
        let first = kind {
            _ = try container.undelete(container.undeletable(at: path("d"), as: my), as: my) { done in
                if done == end { throw OperationError(.cancelled, "the caller went away") }
            }
        }
        #expect(first == .cancelled)
        let left = try container.unfinishedUndeletes()
        #expect(left.map(\.path.description) == ["d"] && left.first?.remaining ?? 0 > 0, "\(left)")
        let outcome = try container.undelete(container.undeletable(at: path("d"), as: my), as: my)
        #expect(outcome.remaining == 0 && outcome.problems.isEmpty && outcome.path.description == "d")
        #expect(try photograph("\(tree.path)/d") == before)
        #expect(try container.deleted(within: nil, as: my).isEmpty)
        #expect(try container.unfinishedUndeletes().isEmpty && container.store.unfinishedUndeletes().isEmpty)
        #expect(try tree.findings() == [])
        #expect(kind { _ = try container.undeletable(at: path("d"), as: my) } == .nothingToDo)
    }

    @Test(
        "what comes back one by one, or is removed for good, ends an undeletion that had problems",
        arguments: [false, true])
    func piecemeal(isPurged: Bool) throws {
        let (tree, _) = try deletedTree()
        let container = tree.container
        #expect(kind {
            _ = try container.undelete(container.undeletable(at: path("d"), as: my), as: my) { done in
                if done == 4 { throw OperationError(.cancelled, "the caller went away") }
            }
        } == .cancelled)
        #expect(try container.store.unfinishedUndeletes().count == 1)
        if isPurged {
            _ = try container.purgeDeleted(before: nil, as: my)
        } else {
            for deletion in try container.deleted(within: nil, as: my) { _ = try container.undelete(deletion, as: my) }
        }
        #expect(try container.store.unfinishedUndeletes().isEmpty)
        var status = stat()
        #expect(stat("\(tree.path)/d/closed", &status) != 0 || status.st_mode & 0o7777 == 0o2550)
    }

    @Test("what ended it is told with what came back and what did not")
    func told() throws {
        let (tree, _) = try deletedTree()
        do {
            _ = try tree.container.undelete(tree.container.undeletable(at: path("d"), as: my), as: my) { done in
                if done == 3 { throw Errno.noSpace }
            }
            Issue.record("it did not end")
        } catch {
            let error = try #require(error as? OperationError)
            #expect(
                error.errno == .noSpace && error.description.contains("3 came back, 4 are still deleted"), "\(error)")
            #expect(error.advice?.contains("make room") ?? false)
        }
    }

    @Test("a name that somebody has taken meanwhile keeps no other from coming back, and comes when it is free")
    func taken() throws {
        let (tree, before) = try deletedTree()
        let container = tree.container
        #expect(kind {
            _ = try container.undelete(container.undeletable(at: path("d"), as: my), as: my) { done in
                if done == 1 { throw OperationError(.cancelled, "the caller went away") }
            }
        } == .cancelled)
        tree.clock.advance(seconds: 60)
        try tree.save("d/a", "taken")
        let outcome = try container.undelete(container.undeletable(at: path("d"), as: my), as: my)
        #expect(outcome.problems.map(\.path.description) == ["d/a"] && outcome.problems.first?.problem.kind == .exists)
        #expect(outcome.remaining == 1 && outcome.entries == 5)
        try tree.move("d", to: "e")
        _ = try container.rename(
            tree.caller, parent: tree.node("e"), name: Array("a".utf8), newParent: Node.rootID,
            newName: Array("mine".utf8),
            flags: 0)
        // Under the name that the directory has by now.
        let rest = try container.undelete(container.undeletable(at: path("e"), as: my), as: my)
        #expect(rest.entries == 1 && rest.remaining == 0)
        #expect(try photograph("\(tree.path)/e") == before)
        #expect(try tree.live("mine") == "taken")
    }

    @Test("an undeletion to another name goes on there")
    func elsewhere() throws {
        let (tree, before) = try deletedTree()
        let container = tree.container
        let deletion = try container.deletion(at: path("d"), as: my)
        #expect(kind {
            _ = try container.undelete(deletion, to: path("n"), as: my) { done in
                if done == 3 { throw OperationError(.cancelled, "the caller went away") }
            }
        } == .cancelled)
        #expect(kind {
            _ = try container.undelete(container.undeletable(at: path("d"), as: my), to: path("m"), as: my)
        } == .exists)
        let begun = try #require(try container.unfinishedUndelete(String(deletion.id.hex.prefix(8))))
        _ = try container.undelete(.unfinished(begun), to: path("n"), as: my)
        #expect(try photograph("\(tree.path)/n") == before)
    }

    @Test("of a directory that is there the last group of deletions comes back")
    func inside() throws {
        let tree = try BrowsedContainer()
        for name in ["d", "d/sub"] { try tree.makeDirectory(name) }
        for name in ["old", "a", "sub/b", "stays"] { try tree.save("d/\(name)", name) }
        try remove(["old"], tree)
        tree.clock.advance(seconds: 60)
        try remove(["a", "sub/b", "sub/"], tree)
        let container = tree.container
        #expect(kind {
            _ = try container.undelete(container.undeletable(at: path("d"), as: my), to: path("e"), as: my)
        } == .invalid)
        #expect(try container.undelete(container.undeletable(at: path("d"), as: my), as: my).entries == 3)
        #expect(try tree.live("d/a") == "a" && tree.live("d/sub/b") == "sub/b")
        #expect(access("\(tree.path)/d/old", F_OK) != 0)
        #expect(try container.undelete(container.undeletable(at: path("d"), as: my), as: my).entries == 1)
        #expect(try tree.live("d/old") == "old")
        #expect(try tree.findings() == [])
    }

    @Test("who may not write where it goes on is refused")
    func strangers() throws {
        let (tree, _) = try deletedTree()
        let container = tree.container
        #expect(kind {
            _ = try container.undelete(container.undeletable(at: path("d"), as: my), as: my) { done in
                if done == 3 { throw OperationError(.cancelled, "the caller went away") }
            }
        } == .cancelled)
        try #require(chmod("\(tree.path)", 0o755) == 0)
        #expect(kind {
            _ = try container.undelete(container.undeletable(at: path("d"), as: stranger), as: stranger)
        } == .denied)
    }

    @Test("a directory that is moved out of .deleted comes with all, or goes on through the operation")
    func moved() throws {
        let (tree, before) = try deletedTree()
        // An entry that cannot come: its content is gone.
        let lost = try #require(try tree.container.deleted(within: path("d/closed/c"), as: my).first)
        let place = tree.container.store.deletedArea.name(of: lost.id)
        try #require(renameat(place.directory.rawValue, place.name, AT_FDCWD, "\(tree.path)-aside") == 0)
        try tree.rename(".versions/.deleted/d", to: "d")
        #expect(access("\(tree.path)/d/closed/e", F_OK) == 0 && access("\(tree.path)/d/closed/c", F_OK) != 0)
        #expect(try tree.container.unfinishedUndeletes().map(\.remaining) == [1])
        try #require(renameat(AT_FDCWD, "\(tree.path)-aside", place.directory.rawValue, place.name) == 0)
        _ = try tree.container.undelete(tree.container.undeletable(at: path("d"), as: my), as: my)
        #expect(try photograph("\(tree.path)/d") == before)
    }
}
