import VersionModel

/// A file of the scene: what the daemon remembers of it, and what it has just looked at.
public struct LiveFile: Hashable, Sendable {
    public var id: FileID

    // What was just looked at.

    /// The content.
    public var fingerprint: Fingerprint
    /// The modification time.
    public var modified: Timestamp
    /// Whether the file differs from the stamp that was taken when its content was recorded last, or it was never
    /// recorded.
    public var isChanged: Bool
    /// Whether the file begins with the version that it `holds`. It is asked only where writes came unseen.
    public var beginsWithHeld: Bool
    /// Whether the present generation is kept outside the file, so that overwriting loses nothing.
    public var isKept: Bool

    // What is remembered.

    /// The generation that the file is at (``Content``).
    public var generation: UInt64 = 0
    /// The version that it held when it was recorded last; nil if it was never recorded.
    public var holds: VersionNumber?
    /// Whether all seen changes since then were made at the end.
    public var isOnlyExtended = true

    public init(
        id: FileID, fingerprint: Fingerprint, modified: Timestamp, isChanged: Bool, holds: VersionNumber? = nil,
        beginsWithHeld: Bool = true, isKept: Bool = false, generation: UInt64 = 0
    ) {
        self.id = id
        self.fingerprint = fingerprint
        self.modified = modified
        self.isChanged = isChanged
        self.holds = holds
        self.beginsWithHeld = beginsWithHeld
        self.isKept = isKept
        self.generation = generation
    }

    /// What it is at now.
    public var content: Content { Content(file: id, generation: generation) }
}
