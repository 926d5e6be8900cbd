// From the targets of clients (paths, paths through `.versions`, ids) to documents, versions and deletions, and back to
// the paths under the mount.

import Container
import ControlProtocol
import ControlService
import VersionModel
import VersionStore

/// The object that a target names.
enum Subject {
    case document(DocumentRecord)
    case version(Version, DocumentRecord)
    case deletion(Deletion)
}

extension ContainerBackend {
    private static let browse = FileName(".versions")

    /// The path that a client sent; `notFound` if it is invalid or leads out of the container.
    func tree(_ path: Path) throws -> TreePath {
        guard let tree = path.tree else {
            throw OperationError(.notFound, "no such path in the container: \(path)")
        }
        return tree
    }

    /// The path of a target directory or document, without a check that it exists.
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
            switch try finder.identified(by: digits, as: call.principal) {
            case .item(let document): return .document(document)
            case .version(let version, let document): return .version(version, document)
            case .deletion(let deletion): return .deletion(deletion)
            }
        case .path(let path):
            let path = try tree(path)
            do {
                return try subject(at: path, call)
            } catch var error as OperationError {
                guard error.kind == .notFound, error.advice == nil else { throw error }
                error.renamed = finder.renamedSince(path, as: call.principal)
                throw error
            }
        }
    }

    private func subject(at path: TreePath, _ call: ControlCall) throws -> Subject {
        let names = path.names
        guard let index = names.lastIndex(where: { $0 == Self.browse }), index + 1 < names.count else {
            return .document(try finder.document(at: path, as: call.principal))
        }
        let directory = try directory(TreePath(names: Array(names[..<index])), call)
        let rest = names[(index + 1)...]
        if rest.first?.bytes == BrowsedName.deleted {
            return .deletion(try deletion(TreePath(names: directory.names + rest.dropFirst()), call))
        }
        guard let name = BrowsedName.document(names[index + 1]) else {
            throw OperationError(.notFound, "no document has versions here", path: path)
        }
        let path = directory.appending(name)
        let document = try finder.document(at: path, as: call.principal)
        guard rest.count == 3, let last = rest.last, let name = VersionFileName(last) else {
            return .document(document)
        }
        // The id may be of a deleted document whose name another document has now.
        if !document.versions.contains(where: { $0.id.hex.hasPrefix(name.id) }),
            case .version(let version, let other) = try finder.identified(by: name.id, as: call.principal),
            other.path == path
        {
            return .version(version, other)
        }
        return .version(try finder.version(name.id, of: document), document)
    }

    /// The directory of a `.versions`: live, or an entry under `.deleted`.
    private func directory(_ path: TreePath, _ call: ControlCall) throws -> TreePath {
        guard path.names.contains(where: { $0 == Self.browse }) else { return path }
        guard case .deletion(let deletion) = try subject(at: path, call) else {
            throw OperationError(.notFound, "no such directory", path: path)
        }
        return deletion.path
    }

    /// `.deleted/NAME` or `.deleted/NAME@STAMP`.
    private func deletion(_ path: TreePath, _ call: ControlCall) throws -> Deletion {
        if let found = try? finder.deletion(at: path, as: call.principal) { return found }
        guard let parent = path.parent, let name = path.name, let parts = DeletedFileName.parse(name) else {
            return try finder.deletion(at: path, as: call.principal)
        }
        let original = parent.appending(parts.name)
        let all = try finder.deleted(within: original, as: call.principal)
        guard let found = all.first(where: { $0.path == original && $0.deleted.stamp == parts.deleted.stamp }) else {
            throw OperationError(.nothingToDo, "nothing was deleted here", path: path)
        }
        return found
    }

    /// The target document, or the document of the target version.
    func document(_ target: Target, _ call: ControlCall) throws -> DocumentRecord {
        switch try subject(target, call) {
        case .document(let document), .version(_, let document): return document
        case .deletion(let deletion):
            guard let item = deletion.item else {
                throw OperationError(.notFound, "no versions of what was deleted here", path: deletion.path)
            }
            return try finder.document(item, as: call.principal)
        }
    }

    // MARK: Back

    /// A version as clients see it.
    func info(_ version: Version, of document: DocumentRecord) -> VersionInfo {
        info(version, of: document, in: VersionPlaces(of: document, finder))
    }

    /// Versions of one document as clients see them. Their places are computed once.
    func infos(_ versions: [Version], of document: DocumentRecord) -> [VersionInfo] {
        let places = VersionPlaces(of: document, finder)
        return versions.map { info($0, of: document, in: places) }
    }

    private func info(_ version: Version, of document: DocumentRecord, in places: VersionPlaces) -> VersionInfo {
        let isHere = version.device == container.state.identity.device
        let device = isHere ? container.state.identity.deviceName : version.device.short
        let isKeptBeside = finder.isKeptBeside(version, of: document)
        let file = places.file(of: version, device: device, isKeptBeside: isKeptBeside)
        return VersionInfo(version, path: document.path, file: absolute(file), device: device)
    }

    /// The absolute path under the mount.
    func absolute(_ path: TreePath) -> Path {
        guard let mountpoint = surroundings.mountpoint else { return Path(path) }
        return path.bytes.isEmpty ? mountpoint : Path(bytes: mountpoint.bytes + [47] + path.bytes)
    }

    /// The versions that the caller may read.
    func readable(_ document: DocumentRecord, _ call: ControlCall) -> DocumentRecord {
        var document = document
        let all = document
        document.versions.removeAll { !finder.mayRead($0, of: all, as: call.principal) }
        return document
    }

    /// A document with the losers that the caller may read; nil if there are none. Its base is the newest loser's base.
    func conflicted(_ all: DocumentRecord, _ call: ControlCall) -> ConflictedDocument? {
        let document = readable(all, call)
        guard let current = document.current, !document.conflicts.isEmpty else { return nil }
        let bases = MergeBase.ofConflicts(in: all.versions)
        let base = document.conflicts.lazy.compactMap { bases[$0.id] }.first.flatMap { id in
            document.versions.first { $0.id == id && !$0.flags.contains(.contentLost) }
        }
        return ConflictedDocument(
            path: Path(document.path), current: info(current, of: document), base: base.map { info($0, of: document) },
            versions: infos(document.conflicts, of: document))
    }
}
