// What documents held at a moment.

import VersionModel
import VersionStore

extension Past {
    /// What a document held then. What has parted from another since was that one then.
    func contentThen(
        of document: DocumentRecord, _ aftermath: Aftermath
    ) throws -> (document: DocumentRecord, content: Aftermath.Content)? {
        var (document, passed) = (document, Set<ItemID>())
        while let first = document.versions.min(by: { $0.time < $1.time }), first.saved > aftermath.time,
            passed.insert(document.item).inserted, let parent = first.parents.first,
            let origin = try store.version(parent), origin.item != document.item
        {
            document = DocumentRecord(
                path: document.path, item: origin.item, versions: try store.versions(of: origin.item))
        }
        return aftermath.content(of: document).map { (document, $0) }
    }

    /// What a name held then that has gone without an entry of the deleted area: renamed over another document, or one
    /// of several names for a moment. Nil if it is not that, or is not kept.
    func lostContent(
        _ change: Change, _ aftermath: Aftermath
    ) throws -> (document: DocumentRecord, content: Aftermath.Content)? {
        let path = change.from ?? change.path
        guard let id = change.version else { return nil }
        // The document itself has its history, wherever it is by now.
        if let item = change.item, case let versions = try store.versions(of: item), !versions.isEmpty {
            return try contentThen(of: DocumentRecord(path: path, item: item, versions: versions), aftermath)
        }
        guard let version = try store.version(id), !version.flags.contains(.contentLost) else { return nil }
        guard change.item != nil else {
            let versions = try store.versions(of: version.item)
            return try contentThen(of: DocumentRecord(path: path, item: version.item, versions: versions), aftermath)
        }
        let document = DocumentRecord(path: path, item: version.item, versions: [version])
        return (document, aftermath.content(version, lastOf: change.item))
    }

    /// The entry of the deleted area that a change of the feed made; nil if it is not there any more.
    func deletion(of change: Change, _ aftermath: Aftermath) throws -> Deletion? {
        try aftermath.deletion(of: change).flatMap { try store.deletion($0) }
    }

    /// The live documents in a directory that were saved since a moment, and the names that have none of their own on
    /// the disk.
    func documentsChanged(
        since time: Timestamp, within path: TreePath, in present: any PresentTree
    ) throws -> (documents: [DocumentRecord], parted: [TreePath]) {
        var (documents, parted) = ([DocumentRecord](), [TreePath]())
        for item in try store.allItems() {
            guard !item.places.isEmpty, let current = try store.version(item.current), current.saved > time,
                let place = try store.path(of: item), place.isWithin(path)
            else { continue }
            if let found = try? present.document(item.id, as: .container) {
                if found.deletion == nil { documents.append(found) }
            } else if try !present.isFree(place, .container) {
                parted.append(place)
            }
        }
        return (documents, parted)
    }
}
