// A file or directory as the kernel knows it: its number, its file below, its names.

import Glibc
import Synchronization
import VersionModel

/// A file or directory of the live tree that the kernel has looked up. The ``NodeTable`` that owns it guards its
/// mutable fields.
final class Node: @unchecked Sendable {
    /// A name in a directory.
    struct Name {
        var parent: Node
        var name: FileName

        var place: Place { Place(directory: parent.file, name: name) }
    }

    /// The place of a node's file.
    enum Whereabouts {
        /// Under its names.
        case live
        /// Displaced by a save: now a kept content.
        case kept(ContentID)
        /// In the deleted area.
        case deleted(DeletionID)
        /// Unlinked for good, or never named; reached through ``Node/held``.
        case gone
    }

    let id: UInt64
    let file: FileID
    /// `st_mode & S_IFMT`
    let type: UInt32
    /// Whether it is on another file system than the container, or in a container within it: passed through without
    /// versions.
    var isForeign: Bool { standing != .own }
    /// Whether it is the directory of a container within this one, whose state is hidden from every caller.
    var isNested: Bool { standing == .nested }

    /// The relation to the container.
    enum Standing: Sendable {
        case own, otherFileSystem
        /// The directory of another container, and the nodes that lie in it.
        case nested, withinNested
    }

    private let standing: Standing

    // Guarded by the table.
    var key: BackingKey
    var name: Name?
    var otherNames: [Name] = []
    /// The last lost name, once it has none.
    var lostName: Name?
    /// The document under that name: an open on the way may still save.
    var lostDocument: Document?
    var lookups: UInt64 = 0
    /// The file's size and time in the last answer to the kernel: they are valid until the next change.
    var seen: (size: UInt64, modified: Timestamp)?
    /// A directory's path, and the table's layout at that time.
    var knownPath: (layout: UInt64, path: TreePath)?
    var whereabouts = Whereabouts.live
    /// A file without a name that the kernel still knows: open descriptors, working directories and mappings use it.
    var held: SharedDescriptor?

    /// Whether it may have `security.capability`. The kernel asks before the first write to each file; a file created
    /// through the mount has none until a program sets it.
    let mayHaveCapability = Atomic<Bool>(true)

    /// Whether the kernel may cache the attributes until an invalidation.
    let hasLastingAttributes = Atomic<Bool>(false)

    /// For a directory: the table's layout in which the catalog had rows for it and all directories above it.
    let recordedIn = Atomic<UInt64>(0)

    /// The open handles of the file; with a lock of their own.
    let openings = Openings()

    init(id: UInt64, file: FileID, type: UInt32, key: BackingKey, standing: Standing) {
        self.id = id
        self.file = file
        self.type = type
        self.key = key
        self.standing = standing
    }

    /// The open files with write access.
    var writers: [OpenFile] { openings.state.withLock(\.writers) }
    var hasWriters: Bool { openings.state.withLock { !$0.writers.isEmpty } }
    /// Whether a handle other than `own` has it open for writing.
    func hasWriters(but own: OpenFile?) -> Bool {
        openings.state.withLock { state in state.writers.contains { $0 !== own } }
    }
    /// Whether the file may change before the daemon sees it.
    var mayChange: Bool { openings.state.withLock { !$0.writers.isEmpty || $0.maybeMapped } }

    /// Adds a writer to the file from its admission on, before it has a handle.
    func admit(_ file: OpenFile) { openings.state.withLock { $0.writers.append(file) } }

    func release(_ file: OpenFile) {
        openings.state.withLock { state in
            state.writers.removeAll { $0 === file }
            if state.count == 0 { state.cached = false }
        }
    }

    var isDirectory: Bool { type == UInt32(S_IFDIR) }
    var isRegular: Bool { type == UInt32(S_IFREG) }
    static let rootID: UInt64 = 1
}
