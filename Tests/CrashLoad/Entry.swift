// What workers tell of their doings, one line each, where no crash of the daemon reaches it.

/// One line of a worker's journal.
public struct Entry: Sendable {
    public enum Stage: String, Sendable {
        /// Is about to do it.
        case begin = "B"
        /// fsync(2) of the content has returned; for a name, that of its directory.
        case synced = "S"
        /// It is done: the last call of it returned.
        case done = "D"
    }

    /// How a file is changed.
    public enum Action: String, CaseIterable, Sendable {
        case inPlace, byRename, append, overwrite, mapped, unlink, move
        /// A writer that stays beyond the crash.
        case survive
    }

    public var stage: Stage
    public var action: Action
    /// Relative to the container.
    public var file: String
    /// What the file holds afterwards; nothing for `unlink`. For `move`, what it holds before and after.
    public var content: Content
    /// Where `move` moves it.
    public var target: String

    public init(_ stage: Stage, _ action: Action, _ file: String, _ content: Content, to target: String = "-") {
        self.stage = stage
        self.action = action
        self.file = file
        self.content = content
        self.target = target
    }

    public var line: String { "\(stage.rawValue) \(action.rawValue) \(file) \(content) \(target)\n" }

    public init?(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 5, let stage = Stage(rawValue: String(words[0])),
            let action = Action(rawValue: String(words[1])), let content = Content(words[3])
        else { return nil }
        self.init(stage, action, String(words[2]), content, to: String(words[4]))
    }
}

/// SplitMix64: random, and the same for the same seed.
public struct Dice: RandomNumberGenerator, Sendable {
    private var state: UInt64
    public init(seed: UInt64) { state = seed }
    public mutating func next() -> UInt64 {
        state = state &+ 0x9e37_79b9_7f4a_7c15
        var word = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }
}
