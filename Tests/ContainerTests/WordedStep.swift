// Steps that are said in words: a failing order is printed as it can be given to a test again.

import Foundation

/// What a program does in one step of an order.
protocol WordedStep: CustomStringConvertible {
    associatedtype Verb: RawRepresentable<String>

    /// - Parameters:
    ///   - words: what follows the verb.
    ///   - number: where the step is in its order. It tells texts apart.
    init(_ verb: Verb, by person: Int, _ words: [String], number: Int)
}

extension WordedStep {
    /// From its description: the number of a program, a verb, and names or numbers.
    init?(_ text: String, number: Int) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count > 1, let person = Int(words[0]), let verb = Verb(rawValue: words[1]) else { return nil }
        self.init(verb, by: person, Array(words.dropFirst(2)), number: number)
    }

    /// Those of an order, with `; ` between them.
    static func steps(_ text: String) -> [Self] {
        text.components(separatedBy: "; ").enumerated().compactMap { Self($1, number: $0) }
    }
}
