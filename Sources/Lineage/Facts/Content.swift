import VersionModel

/// Where the bytes of a version are: a file, and which of its contents (facts.md 1).
///
/// A file's generation grows when bytes that a version needs are kept elsewhere and the file is then overwritten.
/// Appending does not: a version is the first `size` bytes of its content. The two are 16 bytes, as many as the name of
/// a kept content has.
public struct Content: Hashable, Sendable {
    public var file: FileID
    public var generation: UInt64

    public init(file: FileID, generation: UInt64) {
        self.file = file
        self.generation = generation
    }
}
