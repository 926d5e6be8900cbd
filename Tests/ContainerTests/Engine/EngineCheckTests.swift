// A check of a container in use finds nothing that the engine itself has done.

import Foundation
import Glibc
import Support
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite("A check of the engine's container") struct EngineCheckTests {
    @Test("Random changes leave nothing to find, neither in use nor at rest", .timeLimit(.minutes(10)))
    func walks() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("a check of random changes: VERSIONSFS_SEED=\(seed)")
        for round in 0..<UInt64(Workplace.count(60)) {
            var walk = try CheckedWalk(seed &+ round)
            guard let problem = try walk.run(60) else { continue }
            Issue.record("seed \(seed &+ round): \(problem)")
            break
        }
    }
}

/// Random requests to one container, each followed by a check.
private struct CheckedWalk {
    private static let names = ["a", "b", "d/a", "d/b", ".a.swp", "a~", "sedAbC123"]

    private let served: ServedContainer
    private var dice: SeededGenerator
    private var open: [(handle: UInt64, node: UInt64)] = []
    private var done: [String] = []

    init(_ seed: UInt64) throws {
        served = try ServedContainer(files: ["a": "before"])
        dice = SeededGenerator(seed: seed)
        try served.makeDirectory("d")
    }

    /// - Returns: the requests up to the first finding, and that.
    mutating func run(_ count: Int) throws -> String? {
        for _ in 0..<count {
            let words = try step()
            done.append(words)
            let found = try served.found()
            if !found.isEmpty { return (done + found).joined(separator: "\n") }
        }
        for file in open { close(file) }
        try served.remount()
        let found = try served.found(isAtRest: true)
        return found.isEmpty ? nil : (done + ["at rest"] + found).joined(separator: "\n")
    }

    /// One request, whether it is refused or not.
    private mutating func step() throws -> String {
        let (one, other) = (name(), name())
        let size = Int.random(in: 0...5, using: &dice)
        let text = String((0..<size).map { _ in "abc".randomElement(using: &dice) ?? "a" })
        let isThere = served.text(one) != nil
        var words = ""
        do {
            switch Int.random(in: 0..<18, using: &dice) {
            case 0...2:
                words = "save \(text) to \(one)"
                try served.save(one, text)
            case 3 where isThere:
                words = "append \(text) to \(one)"
                try write(text, one, O_WRONLY | O_APPEND, stays: false)
            case 4 where isThere:
                words = "write \(text) into \(one), which stays open"
                try write(text, one, O_RDWR, stays: true)
            case 5:
                words = "close"
                if let index = open.indices.randomElement(using: &dice) { close(open.remove(at: index)) }
            case 6...7:
                words = "rename \(one) to \(other)"
                try served.rename(one, to: other)
            case 8:
                words = "exchange \(one) and \(other)"
                try served.rename(one, to: other, flags: 2)
            case 9 where isThere:
                words = "link \(one) to \(other)"
                try served.link(one, to: other)
            case 10:
                words = "unlink \(one)"
                try served.unlink(one)
            case 11 where isThere && open.isEmpty:
                words = "write \(text) to \(one) while nothing is mounted"
                try served.remount { try served.write(one, text) }
            case 12:
                words = "a kill"
                open = []
                try served.kill()
            case 13...15: words = try operate(one)
            default:
                words = "time passes"
                served.clock.advance(seconds: Bool.random(using: &dice) ? 5 : 70)
                served.container.browsing.recorded.engine.forgetIdle()
            }
        } catch { words += ": \(error)" }
        return words
    }

    /// An operation of a user.
    private mutating func operate(_ name: String) throws -> String {
        let (operations, finder) = (served.container.operations, served.container.finder)
        let path = try #require(TreePath(bytes: Array(name.utf8)))
        var words = ""
        do {
            switch Int.random(in: 0..<4, using: &dice) {
            case 0:
                words = "restore \(name)"
                let found = try finder.document(at: path, as: me)
                if let version = found.versions.randomElement(using: &dice) {
                    _ = try operations.restore(version, of: found, to: nil, as: me)
                }
            case 1:
                words = "purge \(name)"
                let found = try finder.document(at: path, as: me)
                let version = Bool.random(using: &dice) ? nil : found.versions.last
                _ = try operations.purge(found, version, dryRun: false, force: false, as: me)
            case 2:
                words = "undelete \(name)"
                let what = try operations.undeletable(at: path, elsewhere: false, as: me)
                _ = try operations.undelete(what, to: nil, as: me, report: { _ in }, expecting: { _ in })
            default:
                words = "purge what was deleted at \(name)"
                _ = try operations.purgeDeleted(
                    before: nil, within: path, entry: nil, dryRun: false, force: false, as: me, report: { _, _ in })
            }
        } catch { words += ": \(error)" }
        return words
    }

    private let me = Principal(user: getuid(), primaryGroup: getgid(), process: getpid())

    private mutating func name() -> String { Self.names.randomElement(using: &dice) ?? "a" }

    private mutating func write(_ text: String, _ name: String, _ flags: Int32, stays: Bool) throws {
        let node = try served.node(name)
        let handle = try served.open(name, flags)
        try served.put(text, handle, name)
        if stays { open.append((handle, node)) } else { close((handle, node)) }
    }

    private func close(_ file: (handle: UInt64, node: UInt64)) {
        served.container.flush(served.caller, handle: file.handle)
        served.container.release(node: file.node, handle: file.handle)
    }
}
