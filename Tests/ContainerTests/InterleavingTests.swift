// Two or three programs at two names, one system call at a time in random order: whatever a close or a rename has saved
// is in some version, and no version holds what no file ever held.

import CLinux
import Foundation
import Glibc
import Support
import Synchronization
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite(.serialized) struct InterleavingTests {
    /// What random orders have found, each as short as it can be said.
    static let found = [
        // A handle from before the rename writes into what the rename has saved.
        "0 openForBoth x; 0 rename x y; 0 write",
        // So does one that had written nothing until then.
        "0 openInPlace y; 0 openInPlace y; 0 write 1; 0 close 1; 0 rename y x; 0 write 0",
        "0 openForBoth y; 0 openInPlace y; 0 write; 0 close; 0 rename y x; 0 write",
        // What was saved, and is being written again, goes with the name that it was saved under.
        "0 openForBoth x; 0 write; 0 rename x y",
        "1 openToAppend y; 1 openInPlace y; 1 write 1; 1 rename y x; 1 write",
        // Two renames of a file that is open and not saved: versions without content.
        "0 createNew t; 0 openTruncating x; 0 rename x y; 0 write; 1 rename y t; 0 rename t x",
        "0 createNew t; 0 openTruncating x; 0 rename x y; 1 rename y t; 0 rename t x",
        "0 openTruncating x; 0 openTruncating t; 0 rename x t; 0 writeAtStart 1; 0 rename y t",
        "0 openTruncating x; 0 openTruncating x; 0 rename x y; 0 rename y t; 0 write 1; 0 createNew y",
        "1 openTruncating x; 1 openTruncating y; 1 rename x y; 0 rename y t; 1 write 1; 1 openTruncating y",
        // A name that came back, and is renamed before it is saved, takes what it was with it.
        "2 unlink x; 0 unlink y; 0 openTruncating x; 2 rename x y",
        "0 rename y t; 0 unlink t; 0 createNew t; 0 rename t y; 0 createNew t; 1 unlink x; 1 rename y t",
        // The content of a name that came back is in another file, which goes on.
        "1 rename x t; 0 openTruncating x; 0 rename t y; 1 rename y t",
        // The file of a name that comes back is being appended to.
        "0 rename x t; 0 openToAppend t; 0 write; 1 openTruncating x; 1 openTruncating t",
        "0 openTruncating y; 0 openTruncating t; 0 writeAtStart; 0 close; 0 unlink t; 0 openTruncating x; "
            + "0 rename y t; 0 openToAppend t; 0 rename t y; 0 openToAppend y; 0 writeAtStart 1",
        // A version that shares its content is amended.
        "1 rename y t; 1 openTruncating y; 1 openTruncating x; 1 writeAtStart 1; 0 rename y t; 0 rename t x; "
            + "0 rename x t; 1 writeAtStart 1",
        // Whoever has a file open writes to it after an exchange, or after a truncation by its name.
        "0 rename y t; 2 openForBoth x; 1 exchange x t; 2 openInPlace t; 2 writeAtStart 1",
        "0 openTruncating x; 0 openTruncating x; 0 writeAtStart 1; 0 truncate x; 0 write 1",
        // One of two has saved, and the other writes over it: under a name, and without one.
        "0 openTruncating x; 0 openTruncating x; 0 openTruncating t; 0 rename x t; 0 write 1; 0 close 1; "
            + "0 writeAtStart 1",
        "1 openTruncating t; 0 openTruncating t; 0 unlink t; 0 write; 0 openTruncating x; 1 openTruncating t; "
            + "0 close 1; 1 write 1",
        // Who closes the file next saves it for one that has written over what it had saved.
        "0 createNew t; 0 openToAppend t; 0 close 0; 0 write 0; 0 close 0; 0 openInPlace t; 0 write 0; 0 rename t x; "
            + "0 writeAtStart 0; 0 openInPlace x",
        "0 openTruncating x; 0 write; 0 closeDuplicate; 0 writeAtStart; 1 openInPlace x; 1 close",
        // Who goes on with a duplicate of what it has closed overwrites what another has saved meanwhile.
        "0 openTruncating x; 0 write; 0 closeDuplicate; 1 openTruncating x; 1 write; 1 close; 0 writeAtStart",
        "0 openTruncating x; 0 write; 0 closeDuplicate; 1 openInPlace x; 1 write; 1 close; 1 release; 0 writeAtStart",
        "0 openTruncating t; 0 openTruncating t; 0 write 1; 0 rename t y; 0 close 1; 0 write 0",
        "1 openTruncating y; 1 rename x t; 1 openTruncating y; 1 write 0; 0 rename y t; 1 unlink t; 1 close 0; "
            + "1 writeAtStart 0",
        // A program in conflict with itself: it writes to what it has unlinked, and makes the name anew.
        "0 rename y t; 0 rename x y; 0 openForBoth t; 0 write 0; 0 unlink t; 0 createNew t",
        "0 rename x y; 0 openTruncating x; 0 openTruncating x; 0 write 0; 0 rename x t; 0 unlink t; 0 close 1; "
            + "0 openTruncating t; 0 writeAtStart 1",
        // What was deleted before it was ever saved does not come back to a name that it had.
        "1 rename x y; 0 createNew t; 1 rename t x; 1 unlink x; 0 rename y t",
        // So is that of one that was deleted again before it was saved.
        "0 rename y t; 0 openTruncating y; 0 write 0; 0 rename t x; 0 unlink y; 0 rename x t; 0 close 0",
        // Somebody writes over what a rename has saved; its name is taken away and comes back, or another closes it
        // first.
        "0 openTruncating x; 1 openTruncating x; 0 openTruncating t; 1 write 0; 1 rename x t; 0 close 0; "
            + "1 openInPlace y; 0 release 1; 0 release 1; 0 release 1; 0 write 0; 1 unlink t; 1 rename y t",
        "0 openTruncating x; 1 openTruncating x; 0 openTruncating t; 1 write 0; 1 rename x t; 0 close 0; "
            + "1 openInPlace y; 0 write 0; 1 unlink t; 1 close 1; 0 write 0",
    ]

    @Test("what once lost a save does not", arguments: found, [true, false])
    func foundBefore(steps: String, isPassing: Bool) throws {
        let people = try (0..<3).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        let steps = steps.components(separatedBy: "; ").enumerated().compactMap { InterleavedStep($1, number: $0) }
        let problems = try InterleavedPlay(people.map(\.pid), isPassing: isPassing).problems(after: steps)
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("in whatever order programs open, write, close, rename and unlink, each save is in a version", arguments: [
        true, false,
    ])
    func anyOrder(isPassing: Bool) throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? (Workplace.isFull ? UInt64.random(in: 0 ... .max) : 20_261_122)
        let rounds = Workplace.count(2_000)
        print("InterleavingTests: passthrough \(isPassing), seed \(seed), \(rounds) times")
        let people = try (0..<3).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        for round in 0..<rounds {
            var dice = SeededGenerator(seed: seed &+ UInt64(round))
            let steps = InterleavedStep.draw(using: &dice)
            let play = { (steps: [InterleavedStep]) throws in
                try InterleavedPlay(people.map(\.pid), isPassing: isPassing).problems(after: steps)
            }
            let problems = try play(steps)
            guard !problems.isEmpty else { continue }
            // The shortest that fails: what can be left out is.
            var rest = steps
            var index = 0
            while index < rest.count {
                var fewer = rest
                fewer.remove(at: index)
                if try play(fewer).isEmpty { index += 1 } else { rest = fewer }
            }
            Issue.record(
                """
                seed \(seed), round \(round), passthrough \(isPassing):
                \(rest.map { "\($0)" }.joined(separator: "; "))
                \(try play(rest).joined(separator: "\n"))
                """)
            return
        }
    }
}

/// One system call of one program. What cannot be done is passed over, so that any steps can be left out.
struct InterleavedStep: CustomStringConvertible {
    enum Call: String, CaseIterable {
        case openTruncating, openToAppend, openInPlace, openForBoth, createNew, write, writeAtStart, close,
            closeDuplicate, release, rename, unlink, exchange, truncate
    }

    var call: Call
    var person: Int
    var name: String
    var other: String
    /// Tells texts and handles apart.
    var number: Int
    /// Which of the person's handles, counted from the last.
    var handle: Int

    var description: String {
        switch call {
        case .write, .writeAtStart, .close, .closeDuplicate, .release: "\(person) \(call) \(handle)"
        case .rename, .exchange: "\(person) \(call) \(name) \(other)"
        default: "\(person) \(call) \(name)"
        }
    }

    init(call: Call, person: Int, name: String, other: String, number: Int, handle: Int) {
        (self.call, self.person, self.name, self.other) = (call, person, name, other)
        (self.number, self.handle) = (number, handle)
    }

    /// From its description; of a handle the number may be missing.
    init?(_ text: String, number: Int) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count > 1, let person = Int(words[0]), let call = Call(rawValue: words[1]) else { return nil }
        let rest = words.dropFirst(2)
        self.init(
            call: call, person: person, name: rest.first ?? "", other: rest.last ?? "", number: number,
            handle: rest.first.flatMap { Int($0) } ?? 0)
    }

    private static let names = ["x", "y", "t"]
    private static let shares: [Call: Int] = [
        .openTruncating: 8, .openToAppend: 2, .openInPlace: 2, .openForBoth: 2, .createNew: 2, .write: 12,
        .writeAtStart: 2, .close: 10, .release: 6, .rename: 8, .unlink: 4, .exchange: 1, .truncate: 1,
    ]

    static func draw(using dice: inout SeededGenerator) -> [InterleavedStep] {
        // Each time with a few kinds of calls only: what fails is nearer together.
        // Duplicates are not among them: what goes on after its own close may be announced as a version and lost then.
        let kinds = Call.allCases.filter { $0 != .closeDuplicate }
            .filter { $0.rawValue.hasPrefix("open") ? Int.random(in: 0..<2, using: &dice) == 0 : true }
            .filter { [.exchange, .truncate, .unlink, .createNew].contains($0) ? Bool.random(using: &dice) : true }
        let all = kinds.flatMap { Array(repeating: $0, count: shares[$0] ?? 0) }
        let people = Int.random(in: 1...3, using: &dice)
        return (0..<Int.random(in: 8...30, using: &dice)).compactMap { number in
            guard let call = all.randomElement(using: &dice), let name = names.randomElement(using: &dice),
                let other = names.filter({ $0 != name }).randomElement(using: &dice)
            else { return nil }
            return InterleavedStep(
                call: call, person: Int.random(in: 0..<people, using: &dice), name: name, other: other, number: number,
                handle: Int.random(in: 0..<2, using: &dice))
        }
    }
}

/// The steps done with a container, beside what POSIX says of the files.
private final class InterleavedPlay {
    /// A file as POSIX has it.
    private final class Inode {
        var content: [UInt8] = []
        /// Appends amend a version, which begins with what it was.
        var isAppendedTo = false
    }

    private struct Handle {
        var inode: Inode
        var node: UInt64
        var id: UInt64
        var flags: Int32
        var offset = 0
        var hasChanged = false
        var isClosed = false
        /// What the close of a duplicate has saved, and what was written through this one next has not yet amended.
        var ofDuplicate: [UInt8]?
    }

    private let tree: BrowsedContainer
    private let callers: [Caller]
    private var names: [String: Inode] = [:]
    private var handles: [[Handle]]
    /// What must be in a version, with the step that saved it, and all that files ever held.
    private var saved: [(inode: Inode, content: [UInt8], step: String)] = []
    private var held: Set<[UInt8]> = [[]]

    init(_ processes: [pid_t], isPassing: Bool) throws {
        tree = try BrowsedContainer()
        if isPassing { tree.container.connect(PassingKernel()) }
        callers = processes.map { Caller(user: getuid(), group: getgid(), thread: $0, umask: 0o022) }
        handles = processes.map { _ in [] }
        for name in ["x", "y"] {
            try tree.save(name, "\(name) before;")
            let inode = Inode()
            inode.content = Array("\(name) before;".utf8)
            names[name] = inode
            note(inode)
            saved.append((inode, inode.content, "before"))
        }
    }

    func problems(after steps: [InterleavedStep]) throws -> [String] {
        for step in steps {
            do {
                try perform(step)
            } catch {
                return ["\(step): \(error)"]
            }
        }
        for person in handles.indices {
            for index in handles[person].indices { try close(person, index, "at the end") }
        }
        for person in handles.indices {
            for handle in handles[person] { tree.container.release(node: handle.node, handle: handle.id) }
        }
        var problems: [String] = []
        for name in ["x", "y", "t"] {
            let text = try? tree.live(name)
            let expected = names[name].map { String(decoding: $0.content, as: UTF8.self) }
            if text != expected {
                problems.append("\(name) holds \(text ?? "nothing"), should \(expected ?? "nothing")")
            }
        }
        problems += try tree.findings()
        let texts = try tree.texts()
        let deleted = "\(tree.path)/.versionsfs/deleted"
        let entries = FileManager.default.enumerator(atPath: deleted)?.compactMap { $0 as? String } ?? []
        let all = texts + entries.map {
            (try? String(contentsOfFile: "\(deleted)/\($0)", encoding: .utf8)) ?? ""
        }
        for (inode, content, step) in saved where !content.isEmpty {
            let text = String(decoding: content, as: UTF8.self)
            if !all.contains(where: { $0 == text || inode.isAppendedTo && $0.hasPrefix(text) }) {
                problems.append("in no version: \(text), saved by \(step)")
            }
        }
        for text in texts where !held.contains(Array(text.utf8)) { problems.append("no file ever held \(text)") }
        let conflicts = try tree.container.store.allItems().flatMap { try tree.container.store.conflicts(of: $0.id) }
        if Set(steps.map(\.person)).count < 2, !conflicts.isEmpty {
            problems.append("a conflict of one program with itself")
        }
        if !problems.isEmpty { problems.append("versions: \(texts)\n\(try tree.summary().joined(separator: "\n"))") }
        return problems
    }

    private func note(_ inode: Inode) { held.insert(inode.content) }

    private func perform(_ step: InterleavedStep) throws {
        let (person, name) = (step.person, step.name)
        switch step.call {
        case .openTruncating: try open(person, name, O_WRONLY | O_TRUNC | O_CREAT, step)
        case .openToAppend: try open(person, name, O_WRONLY | O_APPEND, step)
        case .openInPlace: try open(person, name, O_WRONLY, step)
        case .openForBoth: try open(person, name, O_RDWR, step)
        case .createNew:
            if names[name] == nil { try open(person, name, O_WRONLY | O_CREAT | O_EXCL, step) }
        case .write, .writeAtStart:
            let open = handles[person].indices.filter { !handles[person][$0].isClosed }
            guard let index = open.dropLast(step.handle).last else { return }
            let text = "\(step.person).\(step.number);"
            try write(person, index, Array(text.utf8), at: step.call == .writeAtStart ? 0 : nil)
        case .close, .closeDuplicate:
            let open = handles[person].indices.filter { !handles[person][$0].isClosed }
            guard let index = open.dropLast(step.handle).last else { return }
            try close(person, index, "\(step)", ofDuplicate: step.call == .closeDuplicate)
        case .release:
            let closed = handles[person].indices.filter { handles[person][$0].isClosed }
            guard let index = closed.dropLast(step.handle).last else { return }
            let handle = handles[person].remove(at: index)
            tree.container.release(node: handle.node, handle: handle.id)
        case .rename: try rename(person, name, step.other, 0, step)
        case .exchange:
            if names[step.other] != nil { try rename(person, name, step.other, linux_RENAME_EXCHANGE, step) }
        case .unlink:
            guard names[name] != nil else { return }
            try tree.container.unlink(callers[person], parent: Node.rootID, name: Array(name.utf8))
            names[name] = nil
        case .truncate:
            guard let inode = names[name], let found = try lookup(person, name) else { return }
            var edit = AttributeEdit()
            edit.size = off_t(inode.content.count / 2)
            _ = try tree.container.setAttributes(callers[person], node: found, handle: nil, edit)
            inode.content = Array(inode.content.prefix(inode.content.count / 2))
            note(inode)
        }
    }

    private func lookup(_ person: Int, _ name: String) throws -> UInt64? {
        try tree.container.lookup(callers[person], parent: Node.rootID, name: Array(name.utf8))?.node
    }

    private func open(_ person: Int, _ name: String, _ flags: Int32, _ step: InterleavedStep) throws {
        if let inode = names[name] {
            let node = try #require(try lookup(person, name))
            let reply = try #require(try tree.container.open(callers[person], node: node, flags: flags & ~O_CREAT))
            handles[person].append(Handle(inode: inode, node: node, id: reply.handle, flags: flags))
            if flags & O_TRUNC != 0 {
                inode.content = []
            }
        } else if flags & O_CREAT != 0 {
            let made = try tree.container.create(
                callers[person], parent: Node.rootID, name: Array(name.utf8), mode: 0o644, flags: flags | O_CREAT)
            let inode = Inode()
            names[name] = inode
            handles[person].append(Handle(inode: inode, node: made.found.node, id: made.reply.handle, flags: flags))
        }
    }

    private func write(_ person: Int, _ index: Int, _ bytes: [UInt8], at offset: Int?) throws {
        var handle = handles[person][index]
        let opened = try #require(tree.container.serving.files[handle.id])
        let start = handle.flags & O_APPEND != 0 ? handle.inode.content.count : offset ?? handle.offset
        if let content = handle.ofDuplicate, content == handle.inode.content {
            // Nobody has written in between: it is one save, of which that was a state.
            saved.removeAll {
                $0.inode === handle.inode && $0.content == content && $0.step == Self.duplicate(person, handle.id)
            }
        }
        handle.ofDuplicate = nil
        if !opened.state.withLock(\.isMediated) {
            #expect(pwrite(opened.descriptor.raw, bytes, bytes.count, off_t(start)) == bytes.count)
        } else {
            _ = try bytes.withUnsafeBytes {
                try tree.container.write(
                    callers[person], node: handle.node, handle: handle.id, $0, offset: off_t(start))
            }
        }
        let inode = handle.inode
        if handle.flags & O_APPEND != 0 { inode.isAppendedTo = true }
        if inode.content.count < start { inode.content += Array(repeating: 0, count: start - inode.content.count) }
        inode.content.replaceSubrange(start..<min(start + bytes.count, inode.content.count), with: bytes)
        note(inode)
        handle.offset = start + bytes.count
        handle.hasChanged = true
        handles[person][index] = handle
    }

    private static func duplicate(_ person: Int, _ handle: UInt64) -> String { "\(person) closeDuplicate of \(handle)" }

    private func close(_ person: Int, _ index: Int, _ step: String, ofDuplicate: Bool = false) throws {
        guard !handles[person][index].isClosed else { return }
        handles[person][index].isClosed = !ofDuplicate
        let handle = handles[person][index]
        tree.container.flush(callers[person], handle: handle.id)
        // Who replaces a file has saved it with the close. Writers in place share it: the last of them saves.
        let isReplacing = handle.flags & (O_TRUNC | O_EXCL) != 0
        let others = handles.joined().filter { $0.inode === handle.inode && $0.id != handle.id }
        guard handle.hasChanged, isReplacing || others.isEmpty else { return }
        if ofDuplicate { handles[person][index].ofDuplicate = handle.inode.content }
        saved.append((handle.inode, handle.inode.content, ofDuplicate ? Self.duplicate(person, handle.id) : step))
    }

    private func rename(_ person: Int, _ from: String, _ to: String, _ flags: UInt32, _ step: InterleavedStep) throws {
        guard let inode = names[from] else { return }
        let target = names[to]
        try tree.container.rename(
            callers[person], parent: Node.rootID, name: Array(from.utf8), newParent: Node.rootID,
            newName: Array(to.utf8), flags: flags)
        // What somebody is in the middle of writing is amended by the rest.
        let isWhole = !handles.joined().contains {
            $0.inode === inode && !$0.isClosed && ($0.hasChanged || $0.flags & (O_TRUNC | O_EXCL) != 0)
        }
        if target != nil, isWhole { saved.append((inode, inode.content, "\(step)")) }
        names[from] = flags == 0 ? nil : target
        names[to] = inode
    }
}
