// The options of coordinated reads and writes, with Apple's numbers.

extension NSFileCoordinator {
    /// The options for reading an item.
    public struct ReadingOptions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Presenters do not save first.
        public static let withoutChanges = ReadingOptions(rawValue: 1 << 0)
        /// A symbolic link stands for its target.
        public static let resolvesSymbolicLink = ReadingOptions(rawValue: 1 << 1)
        /// The accessor reads metadata only, not the content. The content is not fetched for it.
        public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 1 << 2)
        /// The accessor reads a snapshot, and no writer waits for it.
        public static let forUploading = ReadingOptions(rawValue: 1 << 3)
    }

    /// The options for writing an item: at most one of these.
    public struct WritingOptions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The accessor deletes the item with all its contents.
        public static let forDeleting = WritingOptions(rawValue: 1 << 0)
        /// The accessor moves or renames the item with all its contents.
        public static let forMoving = WritingOptions(rawValue: 1 << 1)
        /// Presenters save first, so that the accessor can merge their changes.
        public static let forMerging = WritingOptions(rawValue: 1 << 2)
        /// The accessor replaces the item of this name, or creates one.
        public static let forReplacing = WritingOptions(rawValue: 1 << 3)
        /// The accessor writes tags, attributes and versions, but not the content.
        public static let contentIndependentMetadataOnly = WritingOptions(rawValue: 1 << 4)
    }
}
