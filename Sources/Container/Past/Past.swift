// What the catalog knows of a moment: the changes since, what documents held, and how far back that reaches.

import VersionModel
import VersionStore

/// Reads the past, and changes nothing but the note of when the container began. A ``PresentTree`` tells of today.
final class Past: Sendable {
    private static let adoptionKey = "adopted"

    let store: VersionStore
    private let documents: DocumentIndex
    private let clock: any WallClock

    init(store: VersionStore, documents: DocumentIndex, clock: any WallClock) {
        (self.store, self.documents, self.clock) = (store, documents, clock)
    }

    // MARK: The beginning

    /// Remembers when the directory became a container. Called once, at the first opening.
    func noteAdoption() {
        store.commit([.setting(key: Self.adoptionKey, value: Array("\(clock.now().nanoseconds)".utf8))])
    }

    /// nil where it is not known: an older container, or a catalog that was made anew.
    var adoption: Timestamp? {
        let text = ((try? store.setting(Self.adoptionKey)) ?? nil).map { String(decoding: $0, as: UTF8.self) }
        return text.flatMap { Int64($0) }.map { Timestamp(nanoseconds: $0) }
    }

    /// Refuses a moment that has not come, one that the change feed does not reach back to, and one at which there was
    /// no such directory: all that is in it would go.
    func requireThen(_ path: TreePath, at time: Timestamp) throws {
        guard time <= clock.now() else { throw OperationError.notYet(path) }
        if let adoption, time < adoption { throw OperationError.tooEarly(path, begins: adoption) }
        // A catalog that was made anew does not know since when there is a container, nor what happened before.
        let first = try store.changes(after: 0, limit: 1).first
        if first.map({ $0.sequence > 1 || adoption == nil }) ?? (adoption == nil),
            first.map({ $0.1.time > time }) ?? true
        {
            throw OperationError.tooEarly(path, begins: first?.1.time)
        }
        guard try existed(path, at: time) else {
            throw OperationError.noDirectoryThen(path)
        }
    }

    /// Refuses a directory that is not there and cannot come back under its name.
    /// - Parameter missing: what a look for it has found.
    func requireReturn(of path: TreePath, since time: Timestamp, _ missing: OperationError) throws {
        let since = try changesOfNames(since: time)
        if since.contains(where: { $0.from.map { path.isWithin($0) && path != $0 } ?? false }) {
            throw OperationError.renamedAbove(path)
        }
        guard since.contains(where: { $0.event == .deleted && path.isWithin($0.path) || $0.from == path }) else {
            throw missing
        }
    }

    // MARK: Changes

    /// Whether there was something at a path, by the changes of it and of all above it, last first. What has only been
    /// renamed since was there under its former name.
    private func existed(_ path: TreePath, at time: Timestamp) throws -> Bool {
        var (path, exists) = (path, true)
        for change in try changesOfNames(since: time).reversed() {
            switch change.event {
            case .created where change.detail.isExchange: continue
            case .created, .undeleted: if path.isWithin(change.path) { exists = false }
            case .deleted: if path.isWithin(change.path) { exists = true }
            default:
                guard let from = change.from else { continue }
                if exists, path.isWithin(change.path) {
                    path = TreePath(names: from.names + path.names.dropFirst(change.path.names.count))
                } else if path.isWithin(from) {
                    exists = true
                    guard change.detail.isExchange else { continue }
                    path = TreePath(names: change.path.names + path.names.dropFirst(from.names.count))
                }
            }
        }
        return exists
    }

    /// All changes of names since a moment, in order.
    private func changesOfNames(since time: Timestamp) throws -> [Change] {
        try changes { $0.time > time && $0.concernsNames }
    }

    /// The changes that are asked for, in order.
    func changes(where isWanted: (Change) -> Bool) throws -> [Change] {
        var rows: [Change] = []
        var after: UInt64 = 0
        while true {
            let page = try store.changes(after: after, limit: 5000)
            guard let last = page.last else { return rows }
            after = last.sequence
            rows += page.map(\.1).filter(isWanted)
        }
    }

    /// Everything since a moment that changed names or documents.
    func aftermath(since time: Timestamp) throws -> Aftermath {
        Aftermath(since: time, try changes { $0.time > time }, try store.deletions(within: nil))
    }

    /// What programs have made since under names that they made up for themselves (`isUnannounced`), and what is being
    /// saved for the first time. Known in memory alone: after the next mount such a file is one that was always there.
    func untoldNames(since time: Timestamp) -> Set<Place> {
        var places: Set<Place> = []
        for document in documents.inMemory {
            document.state.withLock { state in
                guard !state.isUnversioned, let made = state.created ?? state.beginning, made > time else { return }
                places.formUnion(state.places)
            }
        }
        return places
    }
}
