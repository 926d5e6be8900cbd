// The path of each version under the mount: the `file` of a version (DESIGN 3.3).

import Container
import VersionModel

/// The places of one document's versions, relative to the container's root.
struct VersionPlaces {
    private static let browse = FileName(bytes: Browser.name)
    private static let deletedName = FileName(bytes: BrowsedName.deleted)

    /// The document itself; for a deleted one its entry under `.deleted`.
    private let document: TreePath
    /// `.versions/NAME` beside the document: of its directory, or of that directory's entry under `.deleted`.
    private let versions: TreePath?
    /// The document's own name.
    private let name: FileName?

    init(of record: DocumentRecord, _ finder: Finder) {
        let shelf = record.deletion.flatMap { Self.directory(of: $0, finder, depth: 0) }
        name = record.deletion?.place.name ?? record.path.name
        let shown = name.flatMap { BrowsedName.of($0) }
        let parent = record.deletion == nil ? record.path.parent : shelf?.path
        document = record.deletion.flatMap { Self.entry(of: $0, finder, depth: 0) } ?? record.path
        versions = parent.flatMap { parent in
            Self.browse.flatMap { browse in shown.map { parent.appending(browse).appending($0) } }
        }
    }

    /// - Parameters:
    ///   - device: the name of the device that made the version.
    ///   - isKeptBeside: whether the document's file does not hold the current version.
    func file(of version: Version, device: String, isKeptBeside: Bool) -> TreePath {
        guard version.kind != .current || isKeptBeside, let versions, let name,
            let section = FileName(version.kind == .conflict ? "conflicts" : "history"),
            let leaf = VersionFileName(version: version.id, saved: version.saved, device: device, document: name).name
        else { return document }
        return versions.appending(section).appending(leaf)
    }

    /// The directory of a deletion: live, or an entry under `.deleted`.
    private static func directory(
        of deletion: Deletion, _ finder: Finder, depth: Int
    ) -> (path: TreePath, isLive: Bool)? {
        let directory = deletion.place.directory
        if directory == .root { return (.root, true) }
        let parent = deletion.path.parent
        let isIt = { (entry: Deletion) in entry.type == .directory && entry.file == directory }
        var above = try? parent.flatMap { try finder.deletions(recordedAt: $0).first(where: isIt) }
        if above == nil {
            if let path = try? finder.path(of: directory) { return (path, true) }
            // It was moved before it was deleted. Reading all entries takes long where there are many, so this is last.
            above = try? parent.flatMap { try finder.deletions(within: $0).first(where: isIt) }
        }
        if let above { return entry(of: above, finder, depth: depth + 1).map { ($0, false) } }
        return parent.map { ($0, true) }
    }

    /// The place of an entry of the deleted area: under the `.deleted` of its directory, or in that directory's own
    /// entry if the directory was deleted too.
    private static func entry(of deletion: Deletion, _ finder: Finder, depth: Int) -> TreePath? {
        guard depth < 256, let browse, let deletedName, let directory = directory(of: deletion, finder, depth: depth)
        else { return nil }
        let name = deletion.place.name
        let newest = try? finder.deletions(in: deletion.place.directory, named: name).first
        let shown = newest?.id == deletion.id ? name : DeletedFileName.older(name, deleted: deletion.deleted)
        guard directory.isLive else { return directory.path.appending(shown) }
        return directory.path.appending(browse).appending(deletedName).appending(shown)
    }
}
