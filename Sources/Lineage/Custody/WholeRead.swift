import VersionModel

/// How long opens for reading wait for a file that another program is rewriting (facts.md 8, "opens for reading"). It
/// is the state of one file; the engine tells it of truncations, changes and closes, and asks when one opens.
///
/// | the file | an open for reading |
/// |---|---|
/// | was emptied by another program, and is not closed | waits for the close |
/// | the same, and has been unchanged for 200 ms | goes on |
/// | the same, and that is longer ago than the longest wait | goes on |
/// | was emptied by the reader itself, or by kin of it | goes on |
/// | is closed, or was changed without being emptied | goes on |
public struct WholeRead: Hashable, Sendable {
    public static let quiet: Int64 = 200_000_000

    private var writer: ActorNumber?
    private var emptied = Timestamp(nanoseconds: 0)
    private var changed = Timestamp(nanoseconds: 0)
    private let longest: Int64

    /// - Parameter longest: `replace-wait`, in nanoseconds.
    public init(longest: Int64) { self.longest = longest }

    /// A program has emptied the file.
    public mutating func empty(by actor: ActorNumber, at time: Timestamp) {
        (writer, emptied, changed) = (actor, time, time)
    }

    public mutating func change(at time: Timestamp) { changed = time }

    /// The handle that emptied it was closed.
    public mutating func close() { writer = nil }

    /// When a program that opens the file now goes on at the latest, if no close comes first; nil: at once.
    public func due(for reader: ActorNumber, _ kin: Kin, at time: Timestamp) -> Timestamp? {
        guard let writer, !kin.areKin(writer, reader) else { return nil }
        let due = min(
            changed.advanced(byNanoseconds: Self.quiet), emptied.advanced(byNanoseconds: longest))
        return due > time ? due : nil
    }
}
