import VersionModel

/// When a file that is written in place has versions: the minute (facts.md 4, "Written in place"). It is the state of
/// one file; the engine tells it of changes and closes, and makes a version where it says so.
///
/// It is for files over 1 MiB, for databases, and for files closed in place more than ten times a minute
/// (``follows(size:isDatabase:)``). Others have a version at each close.
///
/// | event | a version becomes |
/// |---|---|
/// | the first change after a quiet minute, closed | what the file is: a minute begins |
/// | a change within the minute, whatever closes | nothing yet |
/// | 5 s without a change in the minute, or its end | what has changed: one version a minute |
/// | the end of a minute without a change | nothing: the next change is a first one again |
/// | a change by another program | what stands, first: the run of its former author ends |
public struct Minute: Hashable, Sendable {
    public static let length: Int64 = 60 * 1_000_000_000
    public static let quiet: Int64 = 5 * 1_000_000_000
    public static let largest: UInt64 = 1 << 20
    public static let mostCloses = 10

    /// The author of the changes that are no version yet, or of the last version.
    public private(set) var author: ActorNumber?
    /// The latest change that is no version yet.
    public private(set) var changed: Timestamp?
    /// When the present minute began; nil if the last one was quiet.
    public private(set) var began: Timestamp?
    /// Whether this minute has had its version.
    public private(set) var isSpent = false
    /// The closes of the last minute, oldest first; never more than it takes to decide.
    private var closes: [Timestamp] = []

    public init() {}

    /// Whether a file has versions by the minute, instead of one at each close.
    public func follows(size: UInt64, isDatabase: Bool) -> Bool {
        isDatabase || size > Self.largest || closes.count > Self.mostCloses
    }

    /// Bytes of the file are about to change.
    /// - Returns: whether what stands becomes a version first: another program has changed it.
    public mutating func change(by actor: ActorNumber?, at time: Timestamp) -> Bool {
        let isOthers = changed != nil && author != actor
        if isOthers { record(at: time) }
        (author, changed) = (actor, time)
        return isOthers
    }

    /// A handle that has written in place was closed.
    /// - Returns: whether what the file is becomes a version.
    public mutating func close(at time: Timestamp, size: UInt64, isDatabase: Bool) -> Bool {
        closes.removeAll { time.since($0) >= Self.length }
        if closes.count <= Self.mostCloses { closes.append(time) }
        guard changed != nil else { return false }
        if follows(size: size, isDatabase: isDatabase), began != nil { return false }
        (changed, began, isSpent) = (nil, time, false)
        return true
    }

    /// When to ask next; nil if nothing is to come.
    public var due: Timestamp? {
        guard let began else { return nil }
        let end = began.advanced(byNanoseconds: Self.length)
        guard let changed, !isSpent else { return end }
        return min(end, changed.advanced(byNanoseconds: Self.quiet))
    }

    /// Time has gone by.
    /// - Returns: whether what has changed becomes a version.
    public mutating func pass(to time: Timestamp) -> Bool {
        guard let due, let began, time >= due else { return false }
        let isOver = time.since(began) >= Self.length
        guard changed != nil else {
            if isOver { self.began = nil }
            return false
        }
        // Changes that came after this minute's version are of the next one, which begins with them.
        let wasSpent = isSpent
        if isOver { (self.began, isSpent) = (began.advanced(byNanoseconds: Self.length), false) }
        if wasSpent { return isOver ? pass(to: time) : false }
        changed = nil
        // The version at the end of a minute is the old one's; the next minute has its own.
        isSpent = !isOver
        return true
    }

    private mutating func record(at time: Timestamp) {
        (changed, began, isSpent) = (nil, time, false)
    }
}
