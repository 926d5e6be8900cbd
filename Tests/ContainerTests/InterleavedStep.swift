import Foundation
import Support

/// One system call of one program. What cannot be done is passed over, so that any steps can be left out.
struct InterleavedStep: WordedStep {
    enum Call: String, CaseIterable {
        case openTruncating, openToAppend, openInPlace, openForBoth, createNew, write, writeAtStart, close,
            closeDuplicate, release, rename, unlink, exchange, truncate
        /// An open for reading, and its release. No order that is drawn has it, nor the two that follow.
        case load
        /// The handle's file has been quiet for long, and the container looks at it.
        case quiet
        case synchronize
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
        case .write, .writeAtStart, .close, .closeDuplicate, .release, .quiet, .synchronize:
            "\(person) \(call) \(handle)"
        case .rename, .exchange: "\(person) \(call) \(name) \(other)"
        default: "\(person) \(call) \(name)"
        }
    }

    init(call: Call, person: Int, name: String, other: String, number: Int, handle: Int) {
        (self.call, self.person, self.name, self.other) = (call, person, name, other)
        (self.number, self.handle) = (number, handle)
    }

    /// Of a handle the number may be missing.
    init(_ call: Call, by person: Int, _ words: [String], number: Int) {
        self.init(
            call: call, person: person, name: words.first ?? "", other: words.last ?? "", number: number,
            handle: words.first.flatMap { Int($0) } ?? 0)
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
