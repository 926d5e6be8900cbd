// Random changes of names of all types, by the engine.

import CLinux
import Foundation
import Glibc
import Support
import Testing
import VersionModel

@testable import Container

@Suite("Names of all types, by the engine") struct OtherTypesWalkTests {
    private static let types: [EntryType] = [.file, .directory, .symlink, .fifo, .socket, .device]
    private static let names = ["a", "b", "c", OtherTypesTests.madeUp]

    @Test("After each change facts, deleted area and disk agree")
    func walks() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("names of all types: VERSIONSFS_SEED=\(seed)")
        for round in 0..<UInt64(Workplace.count(200)) {
            guard let problem = try walk(seed &+ round) else { continue }
            Issue.record("seed \(seed &+ round): \(problem)")
            break
        }
    }

    @Test("After changes by several threads they agree, too")
    func threads() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("names of all types, by threads: VERSIONSFS_SEED=\(seed)")
        for round in 0..<UInt64(Workplace.count(50)) {
            let tree = try EngineTree()
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                var dice = SeededGenerator(seed: seed &+ round &* 4 &+ UInt64(thread))
                for _ in 0..<60 { _ = try? change(tree, &dice) }
            }
            let problems = try tree.problems(unknown: try unknown(tree))
            #expect(problems == [], "seed \(seed &+ round)")
            if !problems.isEmpty { break }
        }
    }

    /// - Returns: the changes up to the first difference, and that.
    private func walk(_ seed: UInt64) throws -> String? {
        var dice = SeededGenerator(seed: seed)
        let tree = try EngineTree()
        var done: [String] = []
        for _ in 0..<30 {
            done.append(try change(tree, &dice))
            // What was made up, and is not recorded yet. What lies in it is.
            let problems = try tree.problems(unknown: try unknown(tree))
            if !problems.isEmpty { return (done + problems).joined(separator: "\n") }
        }
        return nil
    }

    private func unknown(_ tree: EngineTree) throws -> Set<String> {
        Set(try tree.disk().keys.filter { $0.split(separator: "/").contains(Substring(OtherTypesTests.madeUp)) })
    }

    /// One change, whether it is refused or not.
    private func change(_ tree: EngineTree, _ dice: inout SeededGenerator) throws -> String {
        let (one, other) = (try path(tree, &dice), try path(tree, &dice))
        let type = Self.types.randomElement(using: &dice) ?? .file
        var words = "\(one) \(other)"
        let error = failure {
            switch Int.random(in: 0..<12, using: &dice) {
            case 0...3:
                words = "make a \(type) \(one)"
                if try tree.attributes(one) == nil { try tree.make(type, one) }
            case 4...5:
                words = "remove \(one)"
                try tree.remove(one)
            case 6...8:
                words = "move \(one) to \(other)"
                try tree.move(one, to: other)
            case 9:
                words = "exchange \(one) and \(other)"
                try tree.move(one, to: other, flags: linux_RENAME_EXCHANGE)
            case 10:
                words = "link \(one) to \(other)"
                try tree.link(one, to: other)
            default:
                words = "time passes"
                tree.clock.advance(seconds: 20)
            }
        }
        return "\(words): \(error)"
    }

    /// A name in the root, or in a directory of it.
    private func path(_ tree: EngineTree, _ dice: inout SeededGenerator) throws -> String {
        let name = Self.names.randomElement(using: &dice) ?? "a"
        let directories = try tree.disk().filter { $0.value == .directory && !$0.key.contains("/") }.keys.sorted()
        guard Bool.random(using: &dice), let above = directories.randomElement(using: &dice) else { return name }
        return "\(above)/\(name)"
    }
}
