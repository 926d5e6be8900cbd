// One operation of a program, as RandomRules has them, each of several system calls.

import Foundation
import Support

struct ShadowStep: WordedStep {
    enum Verb: String, CaseIterable {
        case load, save, saveByRename, saveByOrdinaryRename, append, overwrite, truncate, unlinkAndCreate
        case renameAwayAndCreate, renameAwayAndKeep, closeAfterRename, closeAfterLoad, delete, move, exchange, link
        case undelete, restore, wait
        case makeDirectory, removeDirectory, changeMode, touch, copyBackupAndSave
        /// Of the daemon, which is mounted again.
        case kill
    }

    var verb: Verb
    var person: Int
    var name: String
    var other: String
    /// The process that does something in between.
    var second = 0
    /// Tells texts apart.
    var number: Int
    /// What is written, if an order says it.
    var said: String?

    var text: String { said ?? "\(person).\(number);" }

    var description: String {
        switch verb {
        case .move, .exchange, .link: "\(person) \(verb) \(name) \(other)"
        case .closeAfterRename, .closeAfterLoad: "\(person) \(verb) \(name) \(second)"
        case .wait, .kill: "\(person) \(verb)"
        default: "\(person) \(verb) \(name)" + (said.map { " \($0)" } ?? "")
        }
    }

    init(verb: Verb, person: Int, name: String, other: String, number: Int) {
        (self.verb, self.person, self.name, self.other, self.number) = (verb, person, name, other, number)
    }

    init(_ verb: Verb, by person: Int, _ words: [String], number: Int) {
        self.init(verb: verb, person: person, name: words.first ?? "", other: words.last ?? "", number: number)
        second = words.last.flatMap { Int($0) } ?? 0
        switch verb {
        case .move, .exchange, .link, .closeAfterRename, .closeAfterLoad: break
        default: said = words.dropFirst().first
        }
    }

    private static let shares: [Verb: Int] = [
        .load: 12, .save: 12, .saveByRename: 8, .saveByOrdinaryRename: 6, .append: 6, .overwrite: 3, .truncate: 2,
        .unlinkAndCreate: 3, .renameAwayAndCreate: 4, .renameAwayAndKeep: 3, .delete: 5, .move: 5, .exchange: 2,
        .link: 3, .undelete: 3, .restore: 2, .wait: 4, .makeDirectory: 2, .removeDirectory: 2,
        .closeAfterRename: 3, .closeAfterLoad: 3, .changeMode: 1, .touch: 1, .copyBackupAndSave: 3,
    ]
    /// The shares of `RandomRules`.
    private static let rules: [Verb: Int] = [
        .load: 22, .save: 12, .saveByRename: 10, .saveByOrdinaryRename: 8, .append: 8, .overwrite: 4, .truncate: 2,
        .unlinkAndCreate: 3, .renameAwayAndCreate: 5, .renameAwayAndKeep: 2, .copyBackupAndSave: 5, .delete: 3,
        .move: 4, .exchange: 1, .changeMode: 1, .touch: 1, .closeAfterRename: 3, .closeAfterLoad: 3,
    ]
    private static let names = ["x", "y", "t", "d/x", "d/y"]

    /// As `RandomRules` draws them.
    static func drawByRules(people: Int, using dice: inout SeededGenerator) -> [ShadowStep] {
        // By the one in the middle both differ, as is meant, and an order ends with that.
        let isWhole = Int.random(in: 0..<3, using: &dice) > 0
        let verbs = rules.sorted { $0.key.rawValue < $1.key.rawValue }
            .filter { $0.key != .closeAfterRename || !isWhole }
            .flatMap { Array(repeating: $0.key, count: $0.value) }
        return (0..<30).compactMap { draw(verbs, of: ["x", "y", "t"], people, number: $0, using: &dice) }
    }

    /// Each time with some of the verbs only: what differs is nearer together.
    static func draw(people: Int, using dice: inout SeededGenerator) -> [ShadowStep] {
        let verbs = Verb.allCases.filter { $0 != .kill }
            .filter { $0 == .save || Int.random(in: 0..<3, using: &dice) > 0 }
            .flatMap { Array(repeating: $0, count: shares[$0] ?? 1) }
        return (0..<Int.random(in: 5...25, using: &dice)).compactMap { number in
            guard var step = draw(verbs, of: names, people, number: number, using: &dice) else { return nil }
            if step.verb == .makeDirectory || step.verb == .removeDirectory { step.name = "d" }
            if step.verb == .move, Int.random(in: 0..<6, using: &dice) == 0 { (step.name, step.other) = ("d", "e") }
            return step
        }
    }

    /// The same, with kills in between.
    static func drawWithKills(people: Int, using dice: inout SeededGenerator) -> [ShadowStep] {
        draw(people: people, using: &dice).map { step in
            var step = step
            if Int.random(in: 0..<6, using: &dice) == 0 { step.verb = .kill }
            return step
        }
    }

    private static func draw(
        _ verbs: [Verb], of names: [String], _ people: Int, number: Int, using dice: inout SeededGenerator
    ) -> ShadowStep? {
        guard let verb = verbs.randomElement(using: &dice), let name = names.randomElement(using: &dice),
            let other = names.filter({ $0 != name }).randomElement(using: &dice)
        else { return nil }
        var step = ShadowStep(
            verb: verb, person: Int.random(in: 0..<people, using: &dice), name: name, other: other, number: number)
        step.second = Int.random(in: 0..<people, using: &dice)
        return step
    }
}
