// What workers tell of their doings, one line each, where no crash of the daemon reaches it.

import Glibc

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
        case inPlace, byRename, append, overwrite, patch, mapped, unlink, move
        /// A rename over another file.
        case moveOver
        /// A rename of a directory with all that is in it.
        case moveDirectory
        /// Two files change places.
        case exchange
        /// What was unlinked is back.
        case undelete
        /// An older content is current again.
        case restore
        /// A writer has closed a file whose name another file has taken, or that was unlinked meanwhile.
        case displaced
        /// A writer that stays beyond the crash.
        case survive
    }

    /// CLOCK_MONOTONIC, in nanoseconds: for `begin` not later than the first call of it, else not earlier than the last
    /// call has returned.
    public var time: UInt64
    public var stage: Stage
    public var action: Action
    /// Relative to the container.
    public var file: String
    /// What the file holds afterwards; nothing for `unlink`. For `move`,
    /// `moveOver` and `exchange`, what it holds before and its target after.
    public var content: Content
    /// Where `move` moves it, or with what it changes places.
    public var target: String

    public init(_ stage: Stage, _ action: Action, _ file: String, _ content: Content, to target: String = "-") {
        time = Self.now
        self.stage = stage
        self.action = action
        self.file = file
        self.content = content
        self.target = target
    }

    public static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    public var line: String { "\(time) \(stage.rawValue) \(action.rawValue) \(file) \(content) \(target)\n" }

    public init?(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 6, let time = UInt64(words[0]), let stage = Stage(rawValue: String(words[1])),
            let action = Action(rawValue: String(words[2])), let content = Content(words[4])
        else { return nil }
        self.init(stage, action, String(words[3]), content, to: String(words[5]))
        self.time = time
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
