// The kernel answers close(2) before it sends the release of the handle: that may come in the middle of what the next
// opening does, or after it. Whatever the order, each save is a version.

import CLinux
import Foundation
import Glibc
import Support
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite struct LateReleaseTests {
    @Test("an append that is written before the release of another save amends nothing of that", arguments: [
        O_WRONLY, O_WRONLY | O_TRUNC,
    ])
    func releaseWithinAnAppend(flags: Int32) throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "before")
        let node = try tree.node("x")
        let first = try #require(try tree.container.open(tree.caller, node: node, flags: flags)).handle
        try tree.write("PATCHED", node, first, at: 0)
        tree.container.flush(tree.caller, handle: first)
        let second = try #require(try tree.container.open(tree.caller, node: node, flags: O_WRONLY | O_APPEND)).handle
        try tree.write(" and more", node, second, at: 7)
        tree.container.release(node: node, handle: first)
        tree.container.flush(tree.caller, handle: second)
        tree.container.release(node: node, handle: second)
        #expect(try tree.texts().sorted() == ["PATCHED", "PATCHED and more", "before"])
        #expect(try tree.findings() == [])
    }

    @Test("an append beside a late release amends nothing of another program's save, whenever that comes", arguments: [
        O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_RDWR | O_TRUNC,
    ], 0..<5)
    func releaseBesideAnAppend(flags: Int32, moment: Int) throws {
        for passes in [false, true] {
            let tree = try BrowsedContainer()
            if passes { tree.container.connect(PassingKernel()) }
            try tree.save("x", "before")
            let node = try tree.node("x")
            let first = try #require(try tree.container.open(tree.caller, node: node, flags: flags)).handle
            // Unseen but for who neither truncates nor may map.
            let isUnseen = passes && flags != O_WRONLY
            if isUnseen { try tree.poke("PATCHED", "x", at: 0) } else { try tree.write("PATCHED", node, first, at: 0) }
            tree.container.flush(tree.caller, handle: first)
            func release(_ now: Int) { if now == moment { tree.container.release(node: node, handle: first) } }
            release(0)
            let second = try #require(try tree.container.open(tree.caller, node: node, flags: O_WRONLY | O_APPEND))
                .handle
            release(1)
            try tree.write(" and more", node, second, at: 7)
            release(2)
            tree.container.flush(tree.caller, handle: second)
            release(3)
            tree.container.release(node: node, handle: second)
            release(4)
            #expect(try tree.texts().sorted() == ["PATCHED", "PATCHED and more", "before"], "passes: \(passes)")
            #expect(try tree.findings() == [])
        }
    }

    @Test("what is saved in place is a version, also while another program's handle waits for its release", arguments: [
        O_WRONLY, O_RDWR,
    ], [true, false])
    func savedBeforeAnothersRelease(flags: Int32, isAppended: Bool) throws {
        let tree = try BrowsedContainer()
        let stranger = try Child(Child.Start("sleep", ["60"]))
        defer { stranger.kill() }
        let other = Caller(user: getuid(), group: getgid(), thread: stranger.pid, umask: 0o022)
        try tree.save("x", "before")
        let made = try tree.container.create(
            other, parent: Node.rootID, name: Array("x.new".utf8), mode: 0o644, flags: O_WRONLY | O_CREAT)
        try tree.write("renamed", made.found.node, made.reply.handle, at: 0)
        tree.container.flush(other, handle: made.reply.handle)
        try tree.container.rename(
            other, parent: Node.rootID, name: Array("x.new".utf8), newParent: Node.rootID, newName: Array("x".utf8),
            flags: 0)
        let node = try tree.node("x")
        let own = try #require(try tree.container.open(tree.caller, node: node, flags: flags)).handle
        try tree.write("PATCHED", node, own, at: 0)
        tree.container.flush(tree.caller, handle: own)
        tree.container.release(node: node, handle: own)
        if isAppended { try tree.save("x", " and more", flags: O_APPEND) }
        tree.container.release(node: node, handle: made.reply.handle)
        let texts = ["PATCHED"] + (isAppended ? ["PATCHED and more"] : []) + ["before", "renamed"]
        #expect(try tree.texts().sorted() == texts)
        #expect(try tree.findings() == [])
    }

    @Test("who opens for writing and writes nothing takes no version away from its writer")
    func openedAndClosed() throws {
        let tree = try BrowsedContainer()
        tree.container.connect(PassingKernel())
        try tree.save("x", "before")
        let node = try tree.node("x")
        func open(_ flags: Int32) throws -> UInt64 {
            try #require(try tree.container.open(tree.caller, node: node, flags: flags)).handle
        }
        let own = try open(O_WRONLY | O_TRUNC)
        try tree.poke("one", "x", at: 0)
        // A duplicate was closed.
        tree.container.flush(tree.caller, handle: own)
        let idle = try open(O_WRONLY)
        tree.container.flush(tree.caller, handle: idle)
        tree.container.release(node: node, handle: idle)
        try tree.poke(" and two", "x", at: 3)
        tree.container.flush(tree.caller, handle: own)
        tree.container.release(node: node, handle: own)
        #expect(try tree.texts().sorted() == ["before", "one and two"])
        #expect(try tree.findings() == [])
    }

    @Test("a deleted file that somebody has open and another empties is kept as it was deleted")
    func deletedAndEmptied() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "before")
        let node = try tree.node("x")
        let own = try #require(try tree.container.open(tree.caller, node: node, flags: O_WRONLY | O_APPEND)).handle
        try tree.unlink("x")
        func reopen() throws -> UInt64 {
            try #require(try tree.container.open(tree.caller, node: node, flags: O_WRONLY | O_TRUNC)).handle
        }
        let handle = try (try? reopen()) ?? reopen()
        try tree.write("x", node, handle, at: 0)
        tree.container.flush(tree.caller, handle: handle)
        tree.container.release(node: node, handle: handle)
        tree.container.release(node: node, handle: own)
        #expect(Set(try tree.texts()).isSuperset(of: ["before"]))
        #expect(try tree.findings() == [])
    }

    @Test("what somebody has appended and not closed is a version when another truncates the file by its name")
    func truncatedByName() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "before")
        let node = try tree.node("x")
        let handle = try #require(try tree.container.open(tree.caller, node: node, flags: O_WRONLY | O_APPEND)).handle
        try tree.write(" and more", node, handle, at: 6)
        var edit = AttributeEdit()
        edit.size = 0
        _ = try tree.container.setAttributes(tree.caller, node: node, handle: nil, edit)
        tree.container.flush(tree.caller, handle: handle)
        tree.container.release(node: node, handle: handle)
        #expect(Set(try tree.texts()).isSuperset(of: ["", "before", "before and more"]))
        #expect(try tree.findings() == [])
    }

    @Test("a big content that a mapping has overwritten is said to be lost")
    func mappedAndLost() throws {
        let tree = try BrowsedContainer()
        tree.container.connect(PassingKernel())
        try tree.save("x", String(repeating: "x", count: 2 << 20))
        guard !tree.container.store.contents.canReflink else { return }
        let node = try tree.node("x")
        let handle = try #require(try tree.container.open(tree.caller, node: node, flags: O_RDWR)).handle
        try tree.poke("mapped", "x", at: 0)
        tree.container.flush(tree.caller, handle: handle)
        tree.container.release(node: node, handle: handle)
        tree.container.store.flush()
        let versions = try tree.container.store.versions(of: try tree.item("x").id)
        #expect(versions.map { $0.flags.contains(.contentLost) } == [false, true])
        #expect(try tree.findings() == [])
    }

    @Test(
        """
        what was too big to be kept is said to be lost with its size, also if its writer is released after it was \
        emptied
        """)
    func givenUpBeforeItsRelease() throws {
        var settings = Settings()
        settings.maxFile = 10
        let tree = try BrowsedContainer(settings)
        guard !tree.container.store.contents.canReflink else { return }
        try tree.save("x", "before")
        let big = try Writer(tree, "x", O_WRONLY | O_TRUNC)
        try big.write("more than ten bytes", at: 0)
        tree.container.flush(tree.caller, handle: big.handle)
        let small = try Writer(tree, "x", O_WRONLY | O_TRUNC)
        tree.container.release(node: big.node, handle: big.handle)
        try small.write("small", at: 0)
        small.close()
        tree.container.store.flush()
        let versions = try tree.container.store.versions(of: try tree.item("x").id)
        #expect(versions.map(\.size) == [5, 19, 6])
        #expect(versions.map { $0.flags.contains(.contentLost) } == [false, true, false])
    }

    @Test("what is written in place is its writer's, also if another who has closed before is released last")
    func releasedLast() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "before")
        let node = try tree.node("x")
        let stranger = try Child(Child.Start("/bin/sleep", ["60"]))
        defer { stranger.kill() }
        let other = Caller(user: getuid(), group: getgid(), thread: stranger.pid, umask: 0o022)
        let first = try #require(try tree.container.open(other, node: node, flags: O_WRONLY | O_TRUNC)).handle
        try tree.write("rewritten", node, first, at: 0)
        tree.container.flush(other, handle: first)
        let second = try #require(try tree.container.open(tree.caller, node: node, flags: O_RDWR)).handle
        try tree.write("IN PLACE", node, second, at: 0)
        tree.container.flush(tree.caller, handle: second)
        tree.container.release(node: node, handle: second)
        tree.container.release(node: node, handle: first)
        tree.container.store.flush()
        let versions = try tree.container.store.versions(of: try tree.item("x").id)
        #expect(versions.map(\.author.process) == [getpid(), stranger.pid, getpid()])
        #expect(try tree.texts().sorted() == ["IN PLACEn", "before", "rewritten"])
        #expect(try tree.findings() == [])
    }

    @Test("who opens for reading and truncates has saved, and is gone with the release")
    func readAndTruncated() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "before")
        let node = try tree.node("x")
        let handle = try #require(try tree.container.open(tree.caller, node: node, flags: O_RDONLY | O_TRUNC)).handle
        tree.container.flush(tree.caller, handle: handle)
        tree.container.release(node: node, handle: handle)
        #expect(try #require(tree.container.nodes[node]).writers.isEmpty)
        #expect(try tree.texts().sorted() == ["", "before"])
        #expect(try tree.findings() == [])
    }

    @Test("whatever comes between a close and its release, every save is a version and the check is clean")
    func anyOrder() throws {
        let seed =
            ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
            ?? .random(in: 0...0xffff_ffff)
        print("late releases: seed \(seed)")
        var dice = SeededGenerator(seed: seed)
        for round in 0..<Workplace.count(2000) {
            var scene = try LateReleaseScene(dice.next())
            let problems = try scene.play()
            #expect(
                problems.isEmpty, "seed \(seed), round \(round): \(problems)\n\(scene.story.joined(separator: "\n"))")
            if !problems.isEmpty { return }
        }
    }

    @Test(
        "what was saved and is being appended to when its file is replaced is a version without what was appended",
        arguments: [true, false])
    func appendedToAndDisplaced(truncates: Bool) throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "old")
        try tree.save("y", "other")
        let first = try Writer(tree, "x", truncates ? O_WRONLY | O_TRUNC : O_RDWR)
        try first.write("one", at: 0)
        tree.container.flush(tree.caller, handle: first.handle)
        let second = try Writer(tree, "x", O_WRONLY | O_APPEND)
        try second.write(" mo", at: 3)
        try tree.move("y", to: "x")
        tree.container.release(node: first.node, handle: first.handle)
        try second.write("re", at: 6)
        second.close()
        let texts = try tree.texts()
        #expect(Set(texts).isSuperset(of: ["old", "one", "one more", "other"]), "\(texts)")
        #expect(try tree.findings() == [])
    }
}

/// A few saves in a row of one document, in every way, whose releases come when they come.
private struct LateReleaseScene {
    private enum Way: CaseIterable {
        case truncating, appending, patching, overwriting, renaming, unlinking, moving, movingOver, exchanging
    }

    private let tree: BrowsedContainer
    private var dice: SeededGenerator
    /// What the file holds; nil while there is none.
    private var text: String?
    private var other = "other"
    /// What has to be among the versions.
    private var saved: [String] = []
    private var wasAppended = false
    private var late: [(node: UInt64, handle: UInt64, what: String)] = []
    private var number = 0
    private(set) var story: [String] = []

    init(_ seed: UInt64) throws {
        tree = try BrowsedContainer()
        dice = SeededGenerator(seed: seed)
    }

    /// - Returns: what is wrong at the end.
    mutating func play() throws -> [String] {
        try tree.save("other", "other")
        saved.append("other")
        for _ in 0..<6 {
            let way = text == nil ? .truncating : Way.allCases.randomElement(using: &dice) ?? .truncating
            do { try step(way) } catch { return ["\(way): \(error)"] }
        }
        while !late.isEmpty { release(0) }
        let texts = try tree.texts()
        let problems = Set(saved).subtracting(texts).map { "\($0) is not among \(texts)" } + (try tree.findings())
        if !problems.isEmpty { story += try tree.summary() }
        if try tree.live("other") != other { return problems + ["other does not hold \(other)"] }
        guard let text else { return problems }
        let live = try tree.live("x")
        return live == text ? problems : problems + ["the file holds \(live) and not \(text)"]
    }

    private mutating func step(_ way: Way) throws {
        number += 1
        let fresh = String(repeating: String(number), count: Int.random(in: 1...9, using: &dice)) + "."
        let old = text ?? ""
        switch way {
        case .truncating: try write(fresh, at: 0, O_WRONLY | O_TRUNC, means: fresh)
        case .appending: try write(fresh, at: old.utf8.count, O_WRONLY | O_APPEND, means: old + fresh)
        case .patching: try write(fresh, at: 0, O_WRONLY, means: fresh + old.dropFirst(fresh.count))
        case .overwriting: try write(fresh, at: 0, O_RDWR, means: fresh + old.dropFirst(fresh.count))
        case .renaming:
            let temporary = "x.tmp.\(getpid()).\(String(dice.next(), radix: 16))"
            let made = try create(temporary, fresh)
            tree.container.flush(tree.caller, handle: made.handle)
            late.append((made.node, made.handle, temporary))
            delay()
            try rename(temporary, to: "x")
            note(fresh)
        case .unlinking:
            story.append("unlink")
            try tree.unlink("x")
            text = nil
        case .moving:
            try rename("x", to: "moved-\(number)")
            text = nil
        case .movingOver:
            try rename("x", to: "other")
            other = old
            text = nil
        case .exchanging:
            try rename("x", to: "other", linux_RENAME_EXCHANGE)
            (text, other) = (other, old)
        }
        wasAppended = way == .appending
        delay()
    }

    private mutating func write(_ fresh: String, at offset: Int, _ flags: Int32, means content: String) throws {
        let (node, handle): (UInt64, UInt64)
        if text == nil {
            (node, handle) = try create("x", "")
        } else {
            node = try tree.node("x")
            handle = try #require(try tree.container.open(tree.caller, node: node, flags: flags)).handle
        }
        story.append("open \(String(flags, radix: 8)) \(handle)")
        delay()
        let cut = Int.random(in: 0...fresh.count, using: &dice)
        for (piece, place) in [(fresh.prefix(cut), offset), (fresh.dropFirst(cut), offset + cut)] where !piece.isEmpty {
            story.append("write \(piece) at \(place) through \(handle)")
            // What is open for reading too may be written to unseen.
            if flags == O_RDWR, text != nil {
                try tree.poke(String(piece), "x", at: place)
            } else {
                try tree.write(String(piece), node, handle, at: off_t(place))
            }
            if Int.random(in: 0..<4, using: &dice) == 0 {
                story.append("fsync \(handle)")
                try tree.container.synchronize(node: node, handle: handle, dataOnly: false)
            }
            delay()
        }
        tree.container.flush(tree.caller, handle: handle)
        story.append("close \(handle): \(content)")
        late.append((node, handle, "x"))
        // Appends within a minute amend one version.
        if flags & O_APPEND != 0, wasAppended, saved.last == text { saved.removeLast() }
        note(content)
    }

    private mutating func note(_ content: String) {
        saved.append(content)
        text = content
    }

    private mutating func create(_ name: String, _ content: String) throws -> (node: UInt64, handle: UInt64) {
        let made = try tree.container.create(
            tree.caller, parent: Node.rootID, name: Array(name.utf8), mode: 0o644, flags: O_WRONLY | O_CREAT | O_TRUNC)
        story.append("create \(name) \(made.reply.handle): \(content)")
        if !content.isEmpty { try tree.write(content, made.found.node, made.reply.handle, at: 0) }
        return (made.found.node, made.reply.handle)
    }

    private mutating func rename(_ name: String, to target: String, _ flags: UInt32 = 0) throws {
        story.append("rename \(name) to \(target)\(flags == 0 ? "" : ", exchanging")")
        try tree.container.rename(
            tree.caller, parent: Node.rootID, name: Array(name.utf8), newParent: Node.rootID,
            newName: Array(target.utf8),
            flags: flags)
    }

    /// Some of the releases that are due come now.
    private mutating func delay() {
        while !late.isEmpty, Bool.random(using: &dice) { release(Int.random(in: late.indices, using: &dice)) }
    }

    private mutating func release(_ index: Int) {
        let (node, handle, what) = late.remove(at: index)
        story.append("release \(handle) of \(what)")
        tree.container.release(node: node, handle: handle)
    }
}
