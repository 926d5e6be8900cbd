// One operation of a program, as RandomRules has them, each of several system calls.

import Foundation
import Support

struct ShadowStep: CustomStringConvertible {
    enum Verb: String, CaseIterable {
        case load, save, saveByRename, saveByOrdinaryRename, append, overwrite, truncate, unlinkAndCreate
        case renameAwayAndCreate, renameAwayAndKeep, delete, move, exchange, link, undelete, restore, wait
        case makeDirectory, removeDirectory
    }

    var verb: Verb
    var person: Int
    var name: String
    var other: String
    /// Tells texts apart.
    var number: Int

    var description: String {
        switch verb {
        case .move, .exchange, .link: "\(person) \(verb) \(name) \(other)"
        case .wait: "\(person) \(verb)"
        default: "\(person) \(verb) \(name)"
        }
    }

    init(verb: Verb, person: Int, name: String, other: String, number: Int) {
        (self.verb, self.person, self.name, self.other, self.number) = (verb, person, name, other, number)
    }

    /// From its description.
    init?(_ text: String, number: Int) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count > 1, let person = Int(words[0]), let verb = Verb(rawValue: words[1]) else { return nil }
        self.init(
            verb: verb, person: person, name: words.dropFirst(2).first ?? "", other: words.last ?? "", number: number)
    }

    static func steps(_ text: String) -> [ShadowStep] {
        text.components(separatedBy: "; ").enumerated().compactMap { ShadowStep($1, number: $0) }
    }

    private static let shares: [Verb: Int] = [
        .load: 12, .save: 12, .saveByRename: 8, .saveByOrdinaryRename: 6, .append: 6, .overwrite: 3, .truncate: 2,
        .unlinkAndCreate: 3, .renameAwayAndCreate: 4, .renameAwayAndKeep: 3, .delete: 5, .move: 5, .exchange: 2,
        .link: 3, .undelete: 3, .restore: 2, .wait: 4, .makeDirectory: 2, .removeDirectory: 2,
    ]
    private static let names = ["x", "y", "t", "d/x", "d/y"]

    /// Each time with some of the verbs only: what differs is nearer together.
    static func draw(people: Int, using dice: inout SeededGenerator) -> [ShadowStep] {
        let verbs = Verb.allCases.filter { $0 == .save || Int.random(in: 0..<3, using: &dice) > 0 }
            .flatMap { Array(repeating: $0, count: shares[$0] ?? 1) }
        return (0..<Int.random(in: 5...25, using: &dice)).compactMap { number in
            guard let verb = verbs.randomElement(using: &dice), var name = names.randomElement(using: &dice),
                var other = names.filter({ $0 != name }).randomElement(using: &dice)
            else { return nil }
            if verb == .makeDirectory || verb == .removeDirectory { name = "d" }
            if verb == .move, Int.random(in: 0..<6, using: &dice) == 0 { (name, other) = ("d", "e") }
            return ShadowStep(
                verb: verb, person: Int.random(in: 0..<people, using: &dice), name: name, other: other, number: number)
        }
    }
}
