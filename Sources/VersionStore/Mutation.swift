// The changes of the catalog; one `commit` makes a list of them one transaction.

import VersionModel

extension VersionStore {
    /// One change of the catalog.
    public indirect enum Mutation: Sendable {
        /// Inserts or replaces. Another item at one of its places loses that place.
        case item(Item)
        /// Removes an item and the rows of all its versions.
        case forgetItem(ItemID)
        /// Inserts or replaces. For an existing version, the replacements of removed parents stay, and no descendant of
        /// the version becomes its parent.
        case version(Version)
        case kind(VersionID, VersionKind)
        case flags(VersionID, Version.Flags)
        case hash(VersionID, [UInt8])
        /// Moves a version's bytes to another content.
        case content(VersionID, ContentID)
        /// Replaces a version's parents, which ``version(_:)`` only extends; for repairs.
        case parents(VersionID, [VersionID])
        /// The children of the version get its parents (``Splice``).
        case removeVersion(VersionID)
        /// Inserts or replaces.
        case deletion(Deletion)
        case removeDeletion(DeletionID)
        /// Inserts or replaces. Another directory at its place loses its row.
        case directory(Directory)
        case removeDirectory(FileID)
        /// A row of the change feed, which gets the next sequence number.
        case change(Change)
        /// A small value that survives the daemon; nil removes it.
        case setting(key: String, value: [UInt8]?)
    }
}
