// The changes that the catalog records; a list of them given to one `commit` is one transaction.

import VersionModel

extension VersionStore {
    /// One change of the catalog.
    public indirect enum Mutation: Sendable {
        /// Inserts or replaces; another item that holds one of its places loses that place.
        case item(Item)
        /// Removes an item and the rows of all its versions.
        case forgetItem(ItemID)
        /// Inserts or replaces; of a version that is there already, parents that went meanwhile stay what they were
        /// replaced by, and none is added that goes back to it.
        case version(Version)
        case kind(VersionID, VersionKind)
        case flags(VersionID, Version.Flags)
        case hash(VersionID, [UInt8])
        /// A version's bytes are in another content.
        case content(VersionID, ContentID)
        /// Replaces what a version names as its parents, which ``version(_:)`` only adds to; for repairs.
        case parents(VersionID, [VersionID])
        /// What went back to it goes back to what it went back to (``Splice``).
        case removeVersion(VersionID)
        /// Inserts or replaces.
        case deletion(Deletion)
        case removeDeletion(DeletionID)
        /// Inserts or replaces; another directory recorded at its place loses its row.
        case directory(Directory)
        case removeDirectory(FileID)
        /// A row of the change feed; it gets the next sequence number.
        case change(Change)
        /// A small value that outlives the daemon; nil removes it.
        case setting(key: String, value: [UInt8]?)
    }
}
