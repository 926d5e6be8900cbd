// Shapes of file names that programs generate: a few literal bytes and runs of a kind of character.

/// A shape of names, written as a list of parts.
struct NamePattern: Sendable, ExpressibleByArrayLiteral {
    enum Part: Sendable {
        /// These bytes, in any case.
        case text(String)
        /// This many letters, digits or underscores, as from mkstemp and the like.
        case random(Int)
        /// This many digits, from the first to the second number.
        case digits(Int, Int)
        /// This many hexadecimal digits.
        case hex(Int)
        /// At least one byte of any kind.
        case anything
        /// The process's own number in decimal, not as part of a longer number.
        case process
    }

    /// The parts for the comparison: texts in lower case, as bytes.
    private enum Step: Sendable {
        case text([UInt8])
        case random(Int), hex(Int)
        case digits(Int, Int)
        case anything, process
    }

    private let steps: [Step]
    /// The common beginning and end of all names of this shape.
    private let ends: (first: [UInt8], last: [UInt8])

    init(arrayLiteral parts: Part...) {
        func literal(_ part: Part?) -> [UInt8] {
            if case .text(let text)? = part { text.utf8.map(\.lowercased) } else { [] }
        }
        steps = parts.map { part in
            switch part {
            case .text: .text(literal(part))
            case .random(let count): .random(count)
            case .hex(let count): .hex(count)
            case .digits(let least, let most): .digits(least, most)
            case .anything: .anything
            case .process: .process
            }
        }
        ends = (literal(parts.first), literal(parts.last))
    }

    /// Whether the whole name has this shape.
    func matches(_ name: [UInt8], process: Int32) -> Bool {
        guard mayMatch(name) else { return false }
        return name.withUnsafeBufferPointer { matches($0, from: 0, step: 0, process: process) }
    }

    /// A quick check of both ends, which excludes nearly every name.
    func mayMatch(_ name: [UInt8]) -> Bool {
        guard name.count >= max(ends.first.count, ends.last.count) else { return false }
        for (index, byte) in ends.first.enumerated() where name[index].lowercased != byte { return false }
        let tail = name.count - ends.last.count
        for (index, byte) in ends.last.enumerated() where name[tail + index].lowercased != byte { return false }
        return true
    }

    /// Whether the rest of the name has the shape of the remaining steps.
    private func matches(_ name: UnsafeBufferPointer<UInt8>, from start: Int, step: Int, process: Int32) -> Bool {
        guard step < steps.count else { return start == name.count }
        let left = name.count - start
        func goesOn(_ taken: Int) -> Bool { matches(name, from: start + taken, step: step + 1, process: process) }
        func run(_ count: Int, _ isOne: (UInt8) -> Bool) -> Bool {
            left >= count && (start..<(start + count)).allSatisfy { isOne(name[$0]) } && goesOn(count)
        }
        switch steps[step] {
        case .text(let text):
            guard left >= text.count else { return false }
            for index in text.indices where name[start + index].lowercased != text[index] { return false }
            return goesOn(text.count)
        case .random(let count): return run(count) { $0.isLetterOrDigit || $0 == 95 }
        case .hex(let count): return run(count, \.isHexDigit)
        case .digits(let least, let most):
            var count = 0
            while count < min(most, left), name[start + count].isDigit {
                count += 1
                if count >= least, goesOn(count) { return true }
            }
            return false
        case .anything:
            if step + 1 == steps.count { return left > 0 }
            return left > 0 && (1...left).contains { goesOn($0) }
        case .process:
            guard process > 0, start == 0 || !name[start - 1].isDigit else { return false }
            // The digits here, if they are exactly the number.
            var (value, count) = (0, 0)
            while count < min(left, 10), name[start + count].isDigit {
                value = value * 10 + Int(name[start + count] - 48)
                count += 1
            }
            guard value == Int(process), name[start] != 48, count == left || !name[start + count].isDigit else {
                return false
            }
            return goesOn(count)
        }
    }
}
