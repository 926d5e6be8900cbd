// The start of a query: reads the predicate, and looks the place up with the caller's rights.

import Container
import ControlProtocol
import ControlService
import QueryLanguage
import VersionModel
import VersionStore

extension ContainerBackend: QueryBackend {
    /// A predicate runs for every entry, so a long one delays other clients.
    private static let longestPredicate = 64 << 10

    func query(_ request: QueryRequest, peer: Peer) throws(ControlError) -> any RunningQuery {
        let text = request.predicate ?? ""
        guard text.utf8.count <= Self.longestPredicate else {
            throw ControlError(.invalidParameters, "predicate: longer than \(Self.longestPredicate) bytes")
        }
        let predicate: QueryPredicate
        do throws(QuerySyntaxError) {
            let now = container.moment.wall.nanoseconds
            predicate = try QueryPredicate(parsing: text) { text in
                TimeText.parse(text, now: now).map { Timestamp(nanoseconds: $0) }
            }
        } catch {
            throw ControlError(.invalidParameters, "predicate: \(error)")
        }
        return try answering {
            let scope = try path(request.target, ControlCall(peer: peer))
            let last = try finder.history.lastTold()
            if let after = request.after, after > last {
                throw ControlError(.notFound, "the change feed ends before \(after)", advice: "ask again without it")
            }
            if request.after == nil { try requireThere(scope, peer.principal) }
            return ContainerQuery(
                self, scope: scope, predicate, began: request.after ?? last, after: request.after,
                as: peer.principal)
        }
    }

    private func requireThere(_ scope: TreePath, _ principal: Principal) throws {
        if let entry = try finder.entry(at: scope, as: principal) {
            guard entry.type == .directory else { return }
        } else if scope != .root {
            try scope.requireUnreserved(advice: "versions are not queried: name the directory itself")
            throw OperationError(.notFound, "no such file or directory", path: scope)
        }
        guard finder.mayList(scope, as: principal) else {
            throw OperationError(.denied, "permission denied", path: scope)
        }
    }

    /// An entry as clients see it.
    func item(_ entry: TreeEntry, _ scopes: DocumentScopes) -> QueryItem {
        QueryItem(
            // A document keeps its identity with every save; its file may be another one each time.
            id: entry.document.map(\.item.hex) ?? "\(entry.file.number)", path: Path(entry.path), type: entry.type,
            size: entry.size, modified: entry.modified, scope: scopes.contains(entry.path) ? "documents" : "data",
            document: entry.document.map { known in
                QueryItem.Document(
                    item: known.item, version: known.current.id, saved: known.current.saved,
                    device: known.current.device == container.state.identity.device
                        ? container.state.identity.deviceName : known.current.device.short,
                    user: known.current.author.user, program: known.current.author.program, versions: known.versions,
                    conflicts: known.conflicts)
            }, file: absolute(entry.path))
    }
}
