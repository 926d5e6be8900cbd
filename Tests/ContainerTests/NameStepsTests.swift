// The steps of a directory's way back: tables, and random trees beside a naive model that makes each step.

import Foundation
import Lineage
import Support
import Testing
import VersionModel

@testable import Container

/// A tree of names, in which a step that cannot be made is refused.
private struct NaiveTree {
    var things: [Place: NamedThing] = [:]

    struct Refusal: Error { var step: String }

    func place(of directory: FileID) -> Place? {
        things.first { $0.value.isDirectory && $0.value.file == directory }?.key
    }

    func isThere(_ directory: FileID) -> Bool { directory == .root || place(of: directory) != nil }

    func lies(_ directory: FileID, within other: FileID) -> Bool {
        var next: FileID? = directory
        while let last = next {
            if last == other { return true }
            next = place(of: last)?.directory
        }
        return false
    }

    var above: [FileID: FileID] {
        let pairs = things.filter(\.value.isDirectory).map { ($0.value.file, $0.key.directory) }
        return Dictionary(pairs) { first, _ in first }
    }

    mutating func make(_ step: NameStep, _ then: NaiveTree) throws {
        switch step {
        case .move(let from, let to):
            guard let thing = things[from], things[to] == nil, isThere(to.directory),
                !thing.isDirectory || !lies(to.directory, within: thing.file)
            else { throw Refusal(step: "\(step)") }
            things[from] = nil
            things[to] = thing
        case .bring(let home):
            guard let thing = then.things[home], things[home] == nil, isThere(home.directory),
                !thing.isDirectory || place(of: thing.file) == nil
            else { throw Refusal(step: "\(step)") }
            things[home] = thing
        case .remove(let place):
            guard let thing = things[place] else { throw Refusal(step: "\(step)") }
            remove(place, thing)
        }
    }

    mutating func remove(_ place: Place, _ thing: NamedThing) {
        things[place] = nil
        guard thing.isDirectory else { return }
        for (inner, other) in things where inner.directory == thing.file { remove(inner, other) }
    }
}

@Suite struct NameStepsTests {
    private static let names = ["a", "b", "c"].compactMap { FileName($0) }

    /// What the steps are found from, as a return finds it in the facts.
    private func steps(_ then: NaiveTree, _ now: NaiveTree) -> [NameStep] {
        var (was, has, elsewhere): ([Place: NamedThing], [Place: NamedThing], [Place: NamedThing]) = ([:], [:], [:])
        for place in Set(then.things.keys).union(now.things.keys) where then.things[place] != now.things[place] {
            guard then.isThere(place.directory) else {
                elsewhere[place] = now.things[place]
                continue
            }
            was[place] = then.things[place]
            has[place] = now.things[place]
        }
        return NameSteps.steps(then: was, now: has, elsewhere: elsewhere, above: now.above)
    }

    private func problem(_ then: NaiveTree, _ now: NaiveTree) -> String? {
        let steps = steps(then, now)
        var tree = now
        do { for step in steps { try tree.make(step, then) } } catch { return "\(error) of \(steps)" }
        let isRight = tree.things.count == then.things.count && tree.things.allSatisfy { place, thing in
            then.things[place].map { $0.isSame(as: thing) } ?? false
        }
        if !isRight { return "\(tree.things) after \(steps)" }
        // What is there is neither removed nor brought, and what is as it was is left alone.
        for case .bring(let home) in steps {
            guard let thing = then.things[home], thing.isDirectory else { continue }
            if now.place(of: thing.file) != nil { return "\(thing) was there: \(steps)" }
        }
        return self.steps(then, tree).isEmpty ? nil : "not done after \(steps)"
    }

    private func tree(_ names: [(UInt64, Int, NamedThing)]) -> NaiveTree {
        NaiveTree(
            things: Dictionary(uniqueKeysWithValues: names.map { directory, name, thing in
                (Place(directory: directory == 0 ? .root : FileID(directory), name: Self.names[name]), thing)
            }))
    }

    private func directory(_ number: UInt64) -> NamedThing { NamedThing(file: FileID(number), isDirectory: true) }
    private func document(_ number: UInt64, file: UInt64? = nil) -> NamedThing {
        NamedThing(file: FileID(file ?? number), document: DocumentNumber(number))
    }

    @Test("A document is found by itself, else by its file; what is nowhere comes back")
    func things() {
        let then = tree([(0, 0, document(1, file: 11)), (0, 1, document(2, file: 12))])
        // Both are where they were, one of them in another file.
        #expect(steps(then, tree([(0, 0, document(1, file: 13)), (0, 1, document(2, file: 12))])) == [])
        let root = Self.names.map { Place(directory: .root, name: $0) }
        #expect(steps(then, tree([(0, 0, document(1, file: 11)), (0, 2, document(2, file: 14))])) == [
            .move(root[2], to: root[1])
        ])
        #expect(steps(then, tree([(0, 0, document(1, file: 11)), (0, 2, document(3, file: 12))])) == [
            .move(root[2], to: root[1])
        ])
        #expect(steps(then, tree([(0, 0, document(1, file: 11)), (0, 2, document(3, file: 13))])) == [
            .remove(root[2]), .bring(root[1]),
        ])
    }

    @Test("Directories that were put into one another, or have changed places, come out again")
    func nested() {
        let then = tree([(0, 0, directory(8)), (8, 1, directory(9)), (9, 0, document(1))])
        #expect(problem(then, tree([(0, 0, directory(9)), (9, 1, directory(8)), (9, 0, document(1))])) == nil)
        let both = tree([(0, 0, directory(8)), (0, 1, directory(9)), (8, 0, document(1))])
        #expect(problem(both, tree([(0, 1, directory(8)), (0, 0, directory(9)), (8, 0, document(1))])) == nil)
        #expect(problem(both, tree([(0, 0, directory(7)), (7, 0, directory(8)), (8, 1, directory(9))])) == nil)
        #expect(problem(both, tree([])) == nil)
    }

    @Test("Whatever was done to a tree, the steps lead back")
    func anyTree() {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? (Workplace.isFull ? UInt64.random(in: 0 ... .max) : 20_261_127)
        for round in 0..<Workplace.count(20_000) {
            var dice = SeededGenerator(seed: seed &+ UInt64(round))
            var (tree, last) = (NaiveTree(), UInt64(100))
            for _ in 0..<Int.random(in: 0..<9, using: &dice) { change(&tree, &last, &dice) }
            let then = tree
            for _ in 0..<Int.random(in: 0..<9, using: &dice) { change(&tree, &last, &dice) }
            guard let problem = problem(then, tree) else { continue }
            Issue.record("VERSIONSFS_SEED=\(seed &+ UInt64(round)): \(problem) for \(then.things) from \(tree.things)")
            return
        }
    }

    private func change(_ tree: inout NaiveTree, _ last: inout UInt64, _ dice: inout SeededGenerator) {
        let directories = tree.things.values.filter(\.isDirectory).map(\.file).sorted { $0.number < $1.number }
        guard let above = ([.root] + directories).randomElement(using: &dice),
            let name = Self.names.randomElement(using: &dice)
        else { return }
        let (place, lying) = (Place(directory: above, name: name), tree.things.keys.sorted { "\($0)" < "\($1)" })
        last += 1
        switch Int.random(in: 0..<5, using: &dice) {
        case 0 where tree.things[place] == nil: tree.things[place] = directory(last)
        case 1 where tree.things[place] == nil: tree.things[place] = document(last)
        case 2:
            // A document gets another file, or a file another document.
            guard let thing = tree.things[place], !thing.isDirectory else { return }
            let isSaved = Bool.random(using: &dice)
            tree.things[place] = NamedThing(
                file: isSaved ? FileID(last) : thing.file, document: isSaved ? thing.document : DocumentNumber(last))
        case 3:
            if let thing = tree.things[place] { tree.remove(place, thing) }
        default:
            guard let from = lying.randomElement(using: &dice) else { return }
            try? tree.make(.move(from, to: place), tree)
        }
    }
}
