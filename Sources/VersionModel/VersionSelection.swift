// The version of a document that a count, a time or a program selects instead of an id.

/// A document's versions, for the selection of one.
public struct VersionSelection: Sendable {
    /// Newest first, as in `history`.
    private let versions: [Version]
    private let isDeleted: Bool

    /// - Parameters:
    ///   - versions: newest first.
    ///   - isDeleted: whether the document is in the deleted area: then one step back is its last version.
    public init(_ versions: [Version], isDeleted: Bool = false) {
        (self.versions, self.isDeleted) = (versions, isDeleted)
    }

    // MARK: Steps

    /// The number of versions within reach of steps, including the current one. Conflict versions are not steps.
    public var reachable: Int { older.count + (back(0) == nil ? 0 : 1) }

    /// The version this many steps before the current one; nil if there are fewer.
    public func back(_ steps: Int) -> Version? {
        if steps == 0 { return isDeleted ? nil : versions.first { $0.kind == .current } }
        return steps > 0 && steps <= older.count ? older[steps - 1] : nil
    }

    private var older: [Version] {
        guard let current = versions.firstIndex(where: { $0.kind == .current }) else {
            return versions.filter { $0.kind == .history }
        }
        let history = versions[(current + 1)...].filter { $0.kind == .history }
        return isDeleted ? [versions[current]] + history : history
    }

    // MARK: Times

    /// The version that was current at a moment, even if it lost a conflict later; nil if all are newer.
    public func at(_ time: Timestamp) -> Version? {
        shown.filter { $0.saved <= time }.max { $0.time < $1.time }
    }

    /// The time of the first save; nil without versions.
    public var begins: Timestamp? { shown.map(\.saved).min() }

    /// The versions that were the document's content at some time.
    private var shown: [Version] { versions.filter { !$0.flags.contains(.beside) } }

    // MARK: Programs

    /// The first version of the last run of a program that saved the document.
    /// - Parameter program: a name, or the number of a process.
    public func firstOfLastRun(of program: String) -> Version? {
        let wanted = RunName(program, among: shown.map(\.author))
        guard let last = shown.filter({ wanted.matches($0.author) }).max(by: { $0.time < $1.time }) else { return nil }
        return shown.filter { Self.isOneRun($0.author, last.author) }.min { $0.time < $1.time } ?? last
    }

    /// The version that was current before another one was saved.
    public func before(_ version: Version) -> Version? {
        shown.filter { $0.time < version.time }.max { $0.time < $1.time }
    }

    private static func isOneRun(_ one: Author, _ other: Author) -> Bool {
        one.process > 0 && one.process == other.process && one.program == other.program && one.userID == other.userID
    }
}

/// A program in a user's words.
public struct RunName: Sendable {
    private let name: String
    private let process: Int32?
    /// Whether only the exact name matches; otherwise also names that continue with a character other than a letter:
    /// `vim` for `vim.basic`.
    private let isExact: Bool

    /// - Parameter authors: the exact name has precedence, if one of them has it.
    public init(_ name: String, among authors: some Sequence<Author>) {
        self.name = name
        let process = Int32(name).flatMap { $0 > 0 ? $0 : nil }
        self.process = process
        isExact = authors.contains { $0.program == name || process != nil && $0.process == process }
    }

    public func matches(_ author: Author) -> Bool {
        guard !name.isEmpty, !author.program.isEmpty || author.process > 0 else { return false }
        if author.program == name { return true }
        if let process { return author.process == process }
        return !isExact && ProgramName.mayMean(name, author.program)
    }
}
