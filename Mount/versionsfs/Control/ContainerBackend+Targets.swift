// From what a client names (paths, paths through `.versions`, ids) to documents, versions and deletions, and back to
// the paths under the mount where they can be read.

import Container
import ControlProtocol
import ControlService
import VersionModel
import VersionStore

/// What a target names.
enum Subject {
    case document(DocumentRecord)
    case version(Version, DocumentRecord)
    case deletion(Deletion)
}

extension ContainerBackend {
    private static let browse = FileName(".versions")
    private static let deletedName = FileName(".deleted")

    /// The path that a client sent; `notFound` if it leads out of the container or is none.
    func tree(_ path: Path) throws -> TreePath {
        guard let tree = path.tree else {
            throw OperationError(.notFound, "no such path in the container: \(path)")
        }
        return tree
    }

    /// A target as a directory or document's path, without looking whether it is there.
    func path(_ target: Target, _ call: ControlCall) throws -> TreePath {
        switch target {
        case .path(let path): return try tree(path)
        case .id:
            switch try subject(target, call) {
            case .document(let document), .version(_, let document): return document.path
            case .deletion(let deletion): return deletion.path
            }
        }
    }

    func subject(_ target: Target, _ call: ControlCall) throws -> Subject {
        switch target {
        case .id(let digits):
            switch try container.identified(by: digits) {
            case .item(let item): return .document(try container.document(item, as: call.principal))
            case .version(let version):
                return .version(version, try container.document(version.item, as: call.principal))
            case .deletion(let deletion): return .deletion(deletion)
            }
        case .path(let path): return try subject(at: try tree(path), call)
        }
    }

    private func subject(at path: TreePath, _ call: ControlCall) throws -> Subject {
        let names = path.names
        guard let index = names.firstIndex(where: { $0 == Self.browse }), index + 1 < names.count else {
            return .document(try container.document(at: path, as: call.principal))
        }
        let directory = TreePath(names: Array(names[..<index]))
        let rest = names[(index + 1)...]
        if rest.first == Self.deletedName {
            return .deletion(try deletion(TreePath(names: Array(names[..<index]) + rest.dropFirst()), call))
        }
        let document = try container.document(at: directory.appending(names[index + 1]), as: call.principal)
        guard rest.count == 3, let last = rest.last, let name = VersionFileName(last) else { return .document(document) }
        return .version(try container.version(name.id, of: document), document)
    }

    /// `.deleted/NAME` or `.deleted/NAME@STAMP`.
    private func deletion(_ path: TreePath, _ call: ControlCall) throws -> Deletion {
        if let found = try? container.deletion(at: path, as: call.principal) { return found }
        guard let parent = path.parent, let name = path.name, let parts = DeletedFileName.parse(name) else {
            return try container.deletion(at: path, as: call.principal)
        }
        let original = parent.appending(parts.name)
        let all = try container.deleted(within: original, as: call.principal)
        guard let found = all.first(where: { $0.path == original && $0.deleted.stamp == parts.deleted.stamp }) else {
            throw OperationError(.nothingToDo, "nothing was deleted here", path: path)
        }
        return found
    }

    /// The document that a target names, or the one whose version it names.
    func document(_ target: Target, _ call: ControlCall) throws -> DocumentRecord {
        switch try subject(target, call) {
        case .document(let document), .version(_, let document): return document
        case .deletion(let deletion):
            guard let item = deletion.item else {
                throw OperationError(.notFound, "no versions of what was deleted here", path: deletion.path)
            }
            return try container.document(item, as: call.principal)
        }
    }

    // MARK: Back

    /// A version as clients see it.
    func info(_ version: Version, of document: DocumentRecord) -> VersionInfo {
        let isHere = version.device == store.identity.device
        return VersionInfo(
            version, path: document.path, file: file(of: version, document),
            device: isHere ? store.identity.deviceName : version.device.short)
    }

    private func file(of version: Version, _ document: DocumentRecord) -> Path {
        let path = document.path
        guard let name = path.name, let parent = path.parent, let browse = Self.browse else { return absolute(path) }
        guard version.kind != .current else {
            guard let deletion = document.deletion else { return absolute(path) }
            return absolute(place(of: deletion) ?? path)
        }
        let device = version.device == store.identity.device ? store.identity.deviceName : version.device.short
        let leaf = VersionFileName(version: version.id, saved: version.saved, device: device, document: name).name
        let kind = FileName(version.kind == .conflict ? "conflicts" : "history")
        return absolute(
            TreePath(names: parent.names + [browse, name] + [kind, leaf].compactMap { $0 }))
    }

    /// Where an entry of the deleted area lies under `.deleted`: in its directory's own, or in the entry of the
    /// directory that was deleted as well.
    private func place(of deletion: Deletion, depth: Int = 0) -> TreePath? {
        guard depth < 256, let browse = Self.browse, let deleted = Self.deletedName else { return nil }
        let (directory, name) = (deletion.place.directory, deletion.place.name)
        let newest = try? store.deletions(in: directory).first { $0.place.name == name }
        let shown = newest?.id == deletion.id ? name : DeletedFileName.older(name, deleted: deletion.deleted)
        let above = try? deletion.path.parent.map { parent in
            try store.deletions(within: parent).first { $0.type == .directory && $0.file == directory }
        } ?? nil
        if let above { return place(of: above, depth: depth + 1)?.appending(shown) }
        let parent = directory == .root ? TreePath.root : (try? store.path(of: directory)) ?? deletion.path.parent
        return parent?.appending(browse).appending(deleted).appending(shown)
    }

    /// Under the mount.
    func absolute(_ path: TreePath) -> Path {
        guard let mountpoint = surroundings.mountpoint else { return Path(path) }
        return path.bytes.isEmpty ? mountpoint : Path(bytes: mountpoint.bytes + [47] + path.bytes)
    }

    /// The versions that the caller may read.
    func readable(_ document: DocumentRecord, _ call: ControlCall) -> DocumentRecord {
        var document = document
        let all = document
        document.versions.removeAll { !container.mayRead($0, of: all, as: call.principal) }
        return document
    }

    func conflicted(_ document: DocumentRecord) -> ConflictedDocument? {
        guard let current = document.current, !document.conflicts.isEmpty else { return nil }
        let base = document.conflicts.compactMap(\.base).first.flatMap { id in
            document.versions.first { $0.id == id && !$0.flags.contains(.contentLost) }
        }
        return ConflictedDocument(
            path: Path(document.path), current: info(current, of: document), base: base.map { info($0, of: document) },
            versions: document.conflicts.map { info($0, of: document) })
    }
}
