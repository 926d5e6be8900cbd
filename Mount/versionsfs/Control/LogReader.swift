// Pages of a log: rows of the change feed, deletions and versions that the caller may see.

import Container
import ControlProtocol
import ControlService
import VersionModel
import VersionStore

extension ContainerBackend {
    func log(_ request: LogRequest, _ call: ControlCall) throws(ControlError) -> LogPage {
        try answering {
            let cursor = try request.after.map { text in
                guard let cursor = LogCursor(text) else {
                    throw ControlError(.invalidParameters, "after: no page of a log ends there")
                }
                return cursor
            }
            var reader = LogReader(self, try LogReader.scope(request.target, self, call), request, call)
            return try reader.page(cursor)
        }
    }
}

/// Reads one page. The reader keeps no state between pages: the cursor marks the start of the next one.
struct LogReader {
    /// The scope of a log.
    enum Scope {
        /// Events at a path and below it.
        case tree(TreePath)
        /// Events of documents; for a path also the events at that path.
        case documents([ItemID: DocumentRecord], at: TreePath?)
    }

    /// The number of events in a page, and of catalog rows per read.
    private static let portion = 500
    /// The largest number of rows examined for a page, even if few of them concern the caller.
    private static let looks = 4_000

    private let backend: ContainerBackend
    private let scope: Scope
    private let request: LogRequest
    private let call: ControlCall
    private var known = KnownDirectories()
    /// The paths of directories, for this page.
    private var paths: [FileID: TreePath?] = [:]
    private var events: [LoggedEvent] = []

    private var finder: Finder { backend.finder }
    private var history: any ContainerHistory { backend.finder.history }

    init(_ backend: ContainerBackend, _ scope: Scope, _ request: LogRequest, _ call: ControlCall) {
        (self.backend, self.scope, self.request, self.call) = (backend, scope, request, call)
    }

    /// A document is followed under all its names; other documents may have had its path before it.
    static func scope(_ target: Target, _ backend: ContainerBackend, _ call: ControlCall) throws -> Scope {
        if case .path(let path) = target {
            let path = try backend.tree(path)
            let isLive = !path.names.contains { $0 == FileName(".versions") }
            if isLive {
                guard let document = try document(at: path, backend, call) else { return .tree(path) }
                var documents = [document.item: document]
                for deletion in try backend.finder.history.deletions(at: path) where deletion.type == .file {
                    guard let item = deletion.item, documents[item] == nil else { continue }
                    documents[item] = try? backend.finder.document(item, as: call.principal)
                }
                return .documents(documents, at: path)
            }
        }
        switch try backend.subject(target, call) {
        case .document(let document), .version(_, let document):
            return .documents([document.item: document], at: nil)
        case .deletion(let deletion):
            guard deletion.type == .file, let item = deletion.item else { return .tree(deletion.path) }
            return .documents([item: try backend.finder.document(item, as: call.principal)], at: nil)
        }
    }

    private static func document(
        at path: TreePath, _ backend: ContainerBackend, _ call: ControlCall
    ) throws -> DocumentRecord? {
        do throws(OperationError) {
            return try backend.finder.document(at: path, as: call.principal)
        } catch {
            guard error.kind != .denied else { throw error }
            return nil
        }
    }

    mutating func page(_ cursor: LogCursor?) throws -> LogPage {
        let next: LogCursor?
        switch try cursor ?? beginning() {
        case .feed(let after, let end): next = try readFeed(after: after, end: end)
        case .deletions(let position): next = try readDeletions(from: position)
        case .versions(let item, let part): next = try readVersions(after: item, part)
        }
        return LogPage(events: events, next: next?.text)
    }

    private func beginning() throws -> LogCursor {
        .feed(after: 0, end: try history.lastTold())
    }

    private mutating func tell(_ event: LoggedEvent) {
        if isAskedFor(event.time) { events.append(event) }
    }

    private func isAskedFor(_ time: Timestamp) -> Bool {
        if let since = request.since, time < since { return false }
        if let until = request.until, time > until { return false }
        return true
    }

    // MARK: The change feed

    /// Rows that were removed since the last page are replaced by their versions.
    private mutating func readFeed(after: UInt64, end: UInt64) throws -> LogCursor {
        var (after, looked) = (after, 0)
        while looked < Self.looks, events.count < Self.portion {
            try call.checkCancellation()
            let page = try history.told(after: after, limit: Self.portion)
            for (number, change) in page.changes where number <= end && concerns(change) {
                guard isAskedFor(change.time) else { continue }
                if finder.mayKnow(change, as: call.principal, &known) { tell(LoggedEvent(sequence: number, change)) }
            }
            looked += max(1, page.changes.count)
            guard page.last > after, page.last < end else { return .deletions(from: nil) }
            after = page.last
        }
        return .feed(after: after, end: end)
    }

    private func concerns(_ change: Change) -> Bool {
        switch scope {
        case .tree(let path): change.path.isWithin(path) || change.from?.isWithin(path) ?? false
        case .documents(let documents, let path):
            change.item.map { documents[$0] != nil } ?? false
                || path.map { change.path == $0 || change.from == $0 } ?? false
        }
    }

    // MARK: The deleted area

    private mutating func readDeletions(from position: ListPosition?) throws -> LogCursor {
        switch scope {
        case .tree(let path):
            let page = try history.deletions(within: path, from: position, limit: Self.portion)
            for deletion in page.elements { tell(deletion) }
            return page.next.map { .deletions(from: $0) } ?? .versions(after: nil, partOf: nil)
        case .documents(let documents, let path):
            var found = try path.map { try history.deletions(at: $0) } ?? []
            for item in documents.keys { found += try history.deletions(of: item) }
            var told: Set<DeletionID> = []
            for deletion in found where told.insert(deletion.id).inserted { tell(deletion) }
            return .versions(after: nil, partOf: nil)
        }
    }

    private mutating func tell(_ deletion: Deletion) {
        if finder.mayKnow(deletion, call.principal, &known) { tell(LoggedEvent(deletion)) }
    }

    // MARK: Versions

    private mutating func readVersions(after item: ItemID?, _ part: LogCursor.Part?) throws -> LogCursor? {
        var last = part?.item ?? item
        if let part, let rest = try readVersions(of: part.item, from: part.next) {
            return .versions(after: nil, partOf: rest)
        }
        let (items, reached) = try nextItems(after: last)
        for item in items {
            try call.checkCancellation()
            if let rest = try readVersions(of: item, from: nil) { return .versions(after: nil, partOf: rest) }
            last = item
            if events.count >= Self.portion { return .versions(after: last, partOf: nil) }
        }
        return reached.map { .versions(after: $0, partOf: nil) }
    }

    /// The next items, and the last examined item.
    private func nextItems(after item: ItemID?) throws -> ([ItemID], ItemID?) {
        switch scope {
        case .tree:
            let (found, last) = try history.items(after: item, savedSince: request.since, limit: Self.portion)
            return (found, last)
        case .documents(let documents, _):
            return (documents.keys.filter { id in item.map { $0 < id } ?? true }.sorted(), nil)
        }
    }

    /// Adds an item's versions, at most one page.
    /// - Returns: the position of the rest; nil at the end.
    private mutating func readVersions(of item: ItemID, from position: ListPosition?) throws -> LogCursor.Part? {
        guard var document = try document(item) else { return nil }
        let page = try history.versions(of: item, from: position, limit: Self.portion)
        // An unchanged document has no record: its one version is the file.
        if !page.elements.isEmpty || position != nil { document.versions = page.elements }
        for version in document.versions where finder.mayRead(version, of: document, as: call.principal) {
            tell(LoggedEvent(version, path: document.path))
        }
        return page.next.map { LogCursor.Part(item: item, next: $0) }
    }

    /// A document of the scope, without its versions, as far as the caller may see it.
    private mutating func document(_ item: ItemID) throws -> DocumentRecord? {
        switch scope {
        case .documents(let documents, _): return documents[item]
        case .tree(let scope):
            guard let row = try history.item(item) else { return nil }
            for place in row.places {
                guard let path = try path(of: place.directory)?.appending(place.name), path.isWithin(scope),
                    finder.mayKnow(path, in: place.directory, as: call.principal, &known)
                else { continue }
                return DocumentRecord(path: path, item: item, versions: [])
            }
            guard row.places.isEmpty else { return nil }
            if let deletion = try history.deletions(of: item).first(where: { $0.type == .file }) {
                guard deletion.path.isWithin(scope), finder.mayKnow(deletion, call.principal, &known) else {
                    return nil
                }
                return DocumentRecord(path: deletion.path, item: item, versions: [], deletion: deletion)
            }
            // A rename has replaced its file: it has a history and no name.
            let document = try? finder.document(item, as: call.principal)
            return document.flatMap { $0.path.isWithin(scope) ? $0 : nil }
        }
    }

    private mutating func path(of directory: FileID) throws -> TreePath? {
        if let known = paths[directory] { return known }
        let path = try history.path(of: directory)
        paths[directory] = .some(path)
        return path
    }
}
