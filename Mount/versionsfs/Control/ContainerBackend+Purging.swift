// Answers to requests that delete versions and deleted files for good. They list the deleted data; a dry run lists the
// data that the request would delete.

import Container
import ControlProtocol
import ControlService
import VersionModel

extension ContainerBackend {
    func purge(_ request: PurgeRequest, _ call: ControlCall) throws(ControlError) -> Removed {
        try purging(request.dryRun) { dryRun in
            let document: DocumentRecord
            var version: Version?
            switch try subject(request.target, call) {
            case .version(let named, let found): (version, document) = (named, found)
            default: document = try self.document(request.target, call)
            }
            if let name = request.version { version = try self.version(name, of: document, call) }
            return try operations.purge(
                document, version, dryRun: dryRun, force: request.force ?? false, as: call.principal)
        }
    }

    func purgeDeleted(_ request: PurgeDeletedRequest, _ call: ControlCall) throws(ControlError) -> Removed {
        try purging(request.dryRun) { dryRun in
            let (path, entry) = try request.target.map { try deletedPlace($0, call) } ?? (nil, nil)
            return try operations.purgeDeleted(
                before: request.before, within: path, entry: entry, dryRun: dryRun, force: request.force ?? false,
                as: call.principal
            ) { done, total in
                try call.checkCancellation()
                call.report(done: UInt64(done), of: UInt64(total), unit: "entries")
            }
        }
    }

    /// A read-only container still answers a dry run.
    private func purging(
        _ dryRun: Bool?, _ body: (_ dryRun: Bool) throws -> RemovalOutcome
    ) throws(ControlError) -> Removed {
        guard dryRun ?? false else { return try changing { removed(try body(false)) } }
        return try answering { removed(try body(true)) }
    }

    /// The place of a deletion. An id stands for its own entry; a directory stands for its entries as well.
    private func deletedPlace(_ target: Target, _ call: ControlCall) throws -> (path: TreePath?, entry: DeletionID?) {
        if case .path(let path) = target {
            let tree = try tree(path)
            guard tree.names.contains(where: { $0 == FileName(".versions") }) else { return (tree, nil) }
        }
        switch try subject(target, call) {
        case .deletion(let entry): return (entry.path, entry.type == .directory ? nil : entry.id)
        case .document(let document), .version(_, let document): return (document.path, document.deletion?.id)
        }
    }

    func removed(_ outcome: RemovalOutcome) -> Removed {
        let listed = outcome.versions.prefix(10_000).map { entry in
            info(entry.version, of: DocumentRecord(path: entry.path, item: entry.version.item, versions: []))
        }
        let entries = outcome.entries.prefix(10_000).map { DeletedEntry($0) }
        return Removed(
            versions: listed, versionCount: outcome.versions.count, deletedCount: outcome.deleted,
            deleted: entries.isEmpty ? nil : entries, pinnedCount: outcome.pinned > 0 ? outcome.pinned : nil,
            bytes: outcome.bytes)
    }
}
