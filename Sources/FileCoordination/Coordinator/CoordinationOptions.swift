// The options of coordinated reads and writes, with the numbers that Apple's have.

extension NSFileCoordinator {
    /// How an item is read.
    public struct ReadingOptions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Presenters are not asked to save first.
        public static let withoutChanges = ReadingOptions(rawValue: 1 << 0)
        /// Of a symbolic link what it leads to is read.
        public static let resolvesSymbolicLink = ReadingOptions(rawValue: 1 << 1)
        /// What is known of the item is read, and not its content: nothing is fetched for it.
        public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 1 << 2)
        /// A snapshot is read, and nobody waits while it is.
        public static let forUploading = ReadingOptions(rawValue: 1 << 3)
    }

    /// How an item is written: at most one of these.
    public struct WritingOptions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The item is deleted, with all that is in it.
        public static let forDeleting = WritingOptions(rawValue: 1 << 0)
        /// The item gets another name or place, with all that is in it.
        public static let forMoving = WritingOptions(rawValue: 1 << 1)
        /// Presenters save first, so that what they have can be merged.
        public static let forMerging = WritingOptions(rawValue: 1 << 2)
        /// Whatever has the name is replaced, or something new gets it.
        public static let forReplacing = WritingOptions(rawValue: 1 << 3)
        /// Tags, attributes and versions are written, and not the content.
        public static let contentIndependentMetadataOnly = WritingOptions(rawValue: 1 << 4)
    }
}
