// Several programs at once at one file, each in its way, with the releases of their handles at any time: the content of
// every version is what was saved, and what was renamed into place is never lost.

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

@Suite(.serialized) struct ConcurrentSavesTests {
    enum Way: String, Sendable { case renaming, truncating, appending, patching, mapping, unlinking }

    @Test("whoever else is at the file, each version holds what was saved", arguments: [
            [Way.renaming, .truncating], [.renaming, .renaming, .mapping, .patching],
            [.renaming, .renaming, .appending, .truncating],
            [.renaming, .mapping, .mapping], [.truncating, .truncating, .appending],
            [.unlinking, .truncating, .mapping, .renaming],
        [.patching, .mapping, .appending, .truncating], [.truncating, .truncating, .truncating, .renaming, .renaming],
    ])
    func together(ways: [Way]) throws {
        let tree = try BrowsedContainer()
        tree.container.connect(PassingKernel())
        try tree.save("x", "base\n")
        let seed =
            ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
            ?? .random(in: 0...0xffff_ffff)
        print("concurrent saves: seed \(seed)")
        let workers = try ways.enumerated().map {
            try ConcurrentSaver(number: $0.offset, way: $0.element, tree, seed: seed &+ UInt64($0.offset))
        }
        defer { for worker in workers { worker.end() } }
        let rounds = Workplace.count(1_000)
        DispatchQueue.concurrentPerform(iterations: workers.count) { workers[$0].work(rounds) }
        for worker in workers { worker.releaseAll() }
        for worker in workers { #expect(worker.problems == [], "seed \(seed)") }
        let findings = try tree.findings()
        #expect(findings.isEmpty, "seed \(seed): \(findings.joined(separator: "\n"))")
        let texts = try tree.texts()
        let words = Set(texts.flatMap { $0.split(separator: "\n").map(String.init) })
        // Who writes to a file that others write to has saved it once it is closed,
        // if they have left it whole until then.
        let isAlone = ways.filter { $0 != .renaming && $0 != .unlinking }.count == 1
        for worker in workers where worker.way == .renaming || worker.way == .truncating || isAlone {
            let lost = worker.saved.filter { !words.contains($0) }
            #expect(
                lost.isEmpty, "seed \(seed): \(lost.count) saves of \(worker.way) are in no version: \(lost.prefix(8))")
        }
    }
}

/// One program that goes on saving.
final class ConcurrentSaver: @unchecked Sendable {
    let way: ConcurrentSavesTests.Way
    private let number: Int
    private let tree: BrowsedContainer
    /// Who it is: a process that does nothing.
    private let process: Child
    private let caller: Caller
    /// Handles that were closed, whose release is still to come.
    private var late: [(node: UInt64, handle: UInt64)] = []
    private(set) var saved: [String] = []
    private(set) var problems: [String] = []

    /// What decides when handles are released; how the workers come to run beside one another it does not.
    private var dice: SeededGenerator

    init(number: Int, way: ConcurrentSavesTests.Way, _ tree: BrowsedContainer, seed: UInt64) throws {
        dice = SeededGenerator(seed: seed)
        (self.number, self.way, self.tree) = (number, way, tree)
        process = try Child(Child.Start("/bin/sleep", ["600"]))
        caller = Caller(user: getuid(), group: getgid(), thread: process.pid, umask: 0o022)
    }

    func end() { process.kill() }

    func work(_ rounds: Int) {
        for round in 0..<rounds {
            let word = "\(way)-\(number)-\(round)"
            do {
                if try step(word + "\n") { saved.append(word) }
            } catch {
                problems.append("\(word): \(error)")
                return
            }
            while let first = late.first, Bool.random(using: &dice) || late.count > 3 {
                late.removeFirst()
                tree.container.release(node: first.node, handle: first.handle)
            }
        }
    }

    func releaseAll() {
        for (node, handle) in late { tree.container.release(node: node, handle: handle) }
        late = []
    }

    /// - Returns: whether something was saved.
    private func step(_ text: String) throws -> Bool {
        switch way {
        case .renaming:
            let name = Array("t\(number)".utf8)
            try write(text, try create(name))
            try tree.container.rename(
                caller, parent: Node.rootID, name: name, newParent: Node.rootID, newName: Self.shared, flags: 0)
            return true
        case .truncating:
            let file = try open(O_WRONLY | O_TRUNC) ?? create(Self.shared)
            let opened = try #require(tree.container.serving.files[file.handle])
            try write(text, file)
            // Others may truncate the same file and write to it at the same time, as POSIX has it.
            return try ContentText.read(opened.descriptor.raw, size: 4096) == Array(text.utf8)
        case .unlinking:
            do {
                try tree.container.unlink(caller, parent: Node.rootID, name: Self.shared)
            } catch {
                guard error == .noSuchFileOrDirectory else { throw error }
            }
            return false
        case .appending: return try open(O_WRONLY | O_APPEND).map { try write(text, $0) } != nil
        case .patching: return try open(O_WRONLY).map { try write(text, $0) } != nil
        case .mapping: return try open(O_RDWR).map { try write(text, $0) } != nil
        }
    }

    private static let shared = Array("x".utf8)

    private func open(_ flags: Int32) throws -> (node: UInt64, handle: UInt64)? {
        // As the kernel does: what has lost its name meanwhile is looked up again, and the second answer counts.
        for isLast in [false, true] {
            guard let found = try tree.container.lookup(caller, parent: Node.rootID, name: Self.shared) else {
                return nil
            }
            do {
                guard let reply = try tree.container.open(caller, node: found.node, flags: flags) else { return nil }
                return (found.node, reply.handle)
            } catch {
                if error == .noSuchFileOrDirectory { return nil }
                guard error.rawValue == ESTALE, !isLast else { throw error }
            }
        }
        return nil
    }

    private func create(_ name: [UInt8]) throws -> (node: UInt64, handle: UInt64) {
        let made = try tree.container.create(
            caller, parent: Node.rootID, name: name, mode: 0o644, flags: O_WRONLY | O_CREAT | O_TRUNC)
        return (made.found.node, made.reply.handle)
    }

    private func write(_ text: String, _ file: (node: UInt64, handle: UInt64)) throws {
        let bytes = Array(text.utf8)
        let opened = try #require(tree.container.serving.files[file.handle])
        // Between the open and the write others come and go.
        for _ in 0..<Int.random(in: 0...100) { sched_yield() }
        let end = opened.isAppending ? try Backing.stat(opened.descriptor.raw).size : 0
        if !opened.state.withLock(\.isMediated) {
            _ = pwrite(opened.descriptor.raw, bytes, bytes.count, off_t(end))
        } else {
            _ = try bytes.withUnsafeBytes {
                try tree.container.write(caller, node: file.node, handle: file.handle, $0, offset: off_t(end))
            }
        }
        tree.container.flush(caller, handle: file.handle)
        late.append(file)
    }
}

/// A kernel that passes reads and writes through, unseen.
final class PassingKernel: KernelSide {
    private let last = Atomic<Int32>(0)

    var passesThrough: Bool { true }
    func register(backing descriptor: Int32) throws(Errno) -> Int32 { last.add(1, ordering: .relaxed).newValue }
    func unregister(backing: Int32) {}
    func invalidate(entry name: [UInt8], in directory: UInt64) {}
    func invalidate(node: UInt64, data: Bool) {}
    func awaitNames(of directory: UInt64) {}
}
