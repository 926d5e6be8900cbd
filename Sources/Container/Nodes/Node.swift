// What the kernel knows of a file or directory: its number, its file below, its names.

import Glibc
import Synchronization
import VersionModel

/// A file or directory of the live tree that the kernel has looked up. Fields that change are guarded by the
/// ``NodeTable`` that owns it.
final class Node: @unchecked Sendable {
    /// A name in a directory.
    struct Name {
        var parent: Node
        var name: FileName

        var place: Place { Place(directory: parent.file, name: name) }
    }

    /// Where a node's file is.
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
    /// Lies on another file system than the container, or in a container within it: passed through without versions.
    var isForeign: Bool { standing != .own }
    /// The directory of a container within this one, whose state does not exist for any caller.
    var isNested: Bool { standing == .nested }

    /// Whether it is the container's own.
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
    /// The name it lost last, once it has none.
    var lostName: Name?
    /// The document that it was under that name: an open that is on its way may save.
    var lostDocument: Document?
    var lookups: UInt64 = 0
    /// What the kernel was last told of the file's size and time: as long as nobody has touched it, they are so.
    var seen: (size: UInt64, modified: Timestamp)?
    /// A directory's path, and the table's layout that it was found in.
    var knownPath: (layout: UInt64, path: TreePath)?
    var whereabouts = Whereabouts.live
    /// A file that has no name any more (or never had) while the kernel still knows it: open descriptors, working
    /// directories and mappings go on with it.
    var held: SharedDescriptor?

    /// Whether it may have `security.capability`: the kernel asks before the first write to each file, and a file that
    /// was made through the mount has none until it is given one.
    let mayHaveCapability = Atomic<Bool>(true)

    /// Whether the kernel may go by the attributes that it was told until it is told otherwise.
    let hasLastingAttributes = Atomic<Bool>(false)

    /// For a directory: the table's layout in which the catalog had the rows of itself and of all above it.
    let recordedIn = Atomic<UInt64>(0)

    /// How the file is open; has its own lock.
    let openings = Openings()

    init(id: UInt64, file: FileID, type: UInt32, key: BackingKey, standing: Standing) {
        self.id = id
        self.file = file
        self.type = type
        self.key = key
        self.standing = standing
    }

    /// Who has the file open for writing.
    var writers: [OpenFile] { openings.state.withLock(\.writers) }
    var hasWriters: Bool { openings.state.withLock { !$0.writers.isEmpty } }
    /// Whether a handle other than `own` has it open for writing.
    func hasWriters(but own: OpenFile?) -> Bool {
        openings.state.withLock { state in state.writers.contains { $0 !== own } }
    }
    /// Whether the file may change without our seeing it before.
    var mayChange: Bool { openings.state.withLock { !$0.writers.isEmpty || $0.maybeMapped } }

    /// Who is let in to write is among the writers from then on, before there is a handle.
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
