// What all kept contents and deleted entries say of themselves: a lost catalog is made anew from that.

import Lineage
import Logging
import SystemPackage
import VersionModel

/// The labels of a container's state.
struct KeptLabels {
    /// Of kept contents, those of versions that this content is of.
    private(set) var contents: [ContentStore.Label] = []
    /// Of deleted entries.
    private(set) var deletions: [Deletion] = []
    /// How many objects there are.
    private(set) var countOfObjects = 0

    init(_ state: ContainerState, _ logger: Logger) throws(Errno) {
        var ids: [ContentID] = []
        try state.contents.forEach { ids.append($0) }
        countOfObjects = ids.count
        for id in ids.sorted() {
            guard let labels = try? state.contents.labels(of: id), !labels.isEmpty else {
                logger.warning("an object without a readable label", metadata: ["object": "\(id)"])
                continue
            }
            contents += labels.filter { $0.version.content == id }
        }
        var entries: [DeletionID] = []
        try state.deletedArea.forEach { entries.append($0) }
        for id in entries.sorted() {
            guard let label = try? state.deletedArea.label(of: id), label.id == id else {
                logger.warning("a deleted entry without a readable label", metadata: ["entry": "\(id)"])
                continue
            }
            deletions.append(label)
        }
    }

    /// What the identities of the lost catalog derived from: those of its last version that a label tells of.
    var epoch: ContainerID? {
        contents.compactMap(\.facts).max { ($0.version?.number.number ?? 0) < ($1.version?.number.number ?? 0) }?.epoch
    }
}
