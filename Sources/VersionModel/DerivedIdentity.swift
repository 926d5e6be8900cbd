// Identities of documents to which nothing has happened yet: derived, not stored. They never change.

extension Identifier<IdentifierOf.Version> {
    /// The first version of a document from before the container: stable until the first change.
    public init(derivedFrom item: ItemID, size: UInt64, modified: Timestamp) {
        let state = BitMixing.mix(size ^ UInt64(bitPattern: modified.nanoseconds))
        self.init(high: BitMixing.mix(item.high ^ state), low: BitMixing.mix(item.low &+ state))
    }
}
