import VersionModel

/// What lies on the disk after a crash. All lists are in an order that does not depend on the run.
public struct Found: Sendable {
    /// A name, and the file or directory that has it.
    public struct Name: Hashable, Sendable {
        public var place: PlaceNumber
        public var file: FileID
        public init(place: PlaceNumber, file: FileID) {
            self.place = place
            self.file = file
        }
    }

    /// A file, with a name or only held for the program that had it open.
    public struct File: Hashable, Sendable {
        public var id: FileID
        public var fingerprint: Fingerprint
        public var modified: Timestamp
        /// Whether it is a database that is not compared as it lies there, because it has a log or a journal.
        public var awaitsCapture = false
        /// Whether a program from before the crash may still write to it, and nothing would tell of that.
        public var isStillWritten = false
        public init(id: FileID, fingerprint: Fingerprint, modified: Timestamp) {
            self.id = id
            self.fingerprint = fingerprint
            self.modified = modified
        }
    }

    /// A content that is kept, and what it says of itself.
    public struct Object: Hashable, Sendable {
        public var content: Content
        public var labels: [Label]
        public init(content: Content, labels: [Label]) {
            self.content = content
            self.labels = labels
        }
    }

    public var names: [Name]
    public var directories: [FileID]
    public var files: [File]
    public var objects: [Object]
    /// Whether the content of a file begins with another.
    public var begins: @Sendable (File, Fingerprint) -> Bool
    /// The generation that a file begins with of which nothing is known: none of its contents can have it.
    public var firstGeneration: UInt64 = 0
    /// Whether a content was looked for, and is neither in its file nor kept.
    public var isGone: @Sendable (Content) -> Bool = { _ in false }

    public init(
        names: [Name], directories: [FileID], files: [File], objects: [Object],
        begins: @escaping @Sendable (File, Fingerprint) -> Bool
    ) {
        self.names = names
        self.directories = directories
        self.files = files
        self.objects = objects
        self.begins = begins
    }

    func file(at place: PlaceNumber) -> FileID? { names.first { $0.place == place }?.file }

    func hasName(_ file: FileID) -> Bool { names.contains { $0.file == file } }
}
