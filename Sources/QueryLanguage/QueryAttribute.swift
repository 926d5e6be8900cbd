// The attributes of the query language, and the kinds of their values.

/// An attribute of a file, directory or other entry of the tree.
public enum QueryAttribute: String, Hashable, Sendable, CaseIterable {
    case name, path
    case `extension`
    case type, size, modified, saved, versions, conflicts, state, scope, device, user, program, item, version

    /// The kind of its values.
    public enum Kind: Hashable, Sendable {
        /// Any bytes.
        case text
        /// One of these.
        case word([String])
        /// A whole number.
        case number
        /// A time.
        case moment
    }

    public var kind: Kind {
        switch self {
        case .name, .path, .extension, .device, .user, .program, .item, .version: .text
        case .type: .word(["file", "directory", "symlink", "fifo", "socket", "device"])
        case .state: .word(["current", "evicted", "downloading", "uploading"])
        case .scope: .word(["documents", "data"])
        case .size, .versions, .conflicts: .number
        case .modified, .saved: .moment
        }
    }

    /// A description of the attribute as a clause, for the help.
    public var summary: String {
        switch self {
        case .name: "its name"
        case .path: "its path from the container's root, without a slash before it"
        case .extension: "what is behind the last dot of its name"
        case .type: "file, directory, symlink, fifo, socket or device"
        case .size: "bytes, as in 10KiB"
        case .modified: "when its content was changed"
        case .saved: "when its version was saved"
        case .versions: "how many versions there are, the current one included"
        case .conflicts: "how many other versions an unresolved conflict has"
        case .state: "current, evicted, downloading or uploading"
        case .scope: "documents or data (scopes.documents)"
        case .device: "the device that saved it"
        case .user: "who saved it"
        case .program: "with which program"
        case .item: "the document's id"
        case .version: "the current version's id"
        }
    }

    /// Reads the word for an attribute, in any case.
    init?(word: String) { self.init(rawValue: word.lowercased()) }
}
