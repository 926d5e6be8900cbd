// A query over the live container: first a walk over the tree, then the change feed from the start of the walk. It
// keeps a position in both and no results, so its cost does not grow with them. The client keeps the results.

import Container
import ControlProtocol
import ControlService
import QueryLanguage
import Synchronization
import VersionModel
import VersionStore

/// The question, the caller, and the progress.
final class ContainerQuery: RunningQuery {
    /// The number of names, and of rows of the change feed, in one piece.
    static let nameCount = 500

    private struct State {
        /// The remaining walks of the current step, last one first.
        var walks: [TreeCursor] = []
        /// The end of this step in the change feed.
        var reached: UInt64
        var isGathering: Bool
    }

    let began: UInt64
    private let backend: ContainerBackend
    private var finder: Finder { backend.finder }
    private let scope: TreePath
    private let matcher: QueryMatcher
    private let principal: Principal
    /// Only the one thread that asks for a piece uses it; the lock is for the compiler.
    private let state: Mutex<State>

    /// - Parameter after: the position in the change feed; nil begins with the tree.
    init(
        _ backend: ContainerBackend, scope: TreePath, _ predicate: QueryPredicate, began: UInt64, after: UInt64?,
        as principal: Principal
    ) {
        self.backend = backend
        self.scope = scope
        self.principal = principal
        self.began = began
        matcher = QueryMatcher(predicate)
        state = Mutex(State(
            walks: after == nil ? [TreeCursor(in: scope)] : [], reached: after ?? began, isGathering: after == nil))
    }

    func next() throws(ControlError) -> QueryPage {
        try backend.answering {
            try state.withLock { state in
                if state.isGathering || !state.walks.isEmpty { return try goOn(&state, QueryPage()) }
                return try follow(&state)
            }
        }
    }

    // MARK: The tree

    /// Continues the walks of this step; ends the step with the last of them.
    private func goOn(_ state: inout State, _ page: QueryPage) throws -> QueryPage {
        var page = page
        if state.isGathering, let entry = try finder.entry(at: scope, as: principal),
            entry.type != .directory
        {
            state.walks = []
            add([entry], to: &page)
        }
        while page.items.count < Self.nameCount, var walk = state.walks.popLast() {
            add(walk.next(Self.nameCount, in: finder, as: principal), to: &page)
            if !walk.isDone {
                state.walks.append(walk)
                break
            }
        }
        guard state.walks.isEmpty else { return page }
        page.sequence = state.reached
        page.isGathered = state.isGathering
        state.isGathering = false
        return page
    }

    private func add(_ entries: [TreeEntry], to page: inout QueryPage) {
        let scopes = DocumentScopes(backend.operations.settings.documentScopes)
        for entry in entries {
            let item = backend.item(entry, scopes)
            if matcher.matches({ item.value(of: $0) }) { page.items.append(item) }
        }
    }

    // MARK: The change feed

    /// Reads the next rows of the feed, and looks up the present state of every path in them.
    private func follow(_ state: inout State) throws -> QueryPage {
        let told = try backend.finder.history.told(after: state.reached, limit: Self.nameCount)
        guard !told.hasGap || state.reached == 0 else {
            throw ControlError(
                .notFound, "the change feed no longer reaches back to \(state.reached)", advice: "ask again")
        }
        guard told.last > state.reached else { return QueryPage(isAtEnd: true) }
        state.reached = told.last
        let changes = told.changes.map(\.change)
        finder.awaitSight(of: changes)
        var touched = TouchedPaths(within: scope)
        var known = KnownDirectories()
        for change in changes {
            touched.add(change, rightsMatter: !finder.knowsAll(principal)) { path, directory in
                finder.mayKnow(path, in: directory, as: principal, &known)
            }
        }
        var page = QueryPage()
        if touched.isScopeTouched {
            page.gone = [Path(scope)]
            state.walks = [TreeCursor(in: scope)]
            if let entry = try finder.entry(at: scope, as: principal), entry.type != .directory {
                state.walks = []
                add([entry], to: &page)
            }
        } else {
            for directory in touched.directories {
                try look(at: touched.names(in: directory), in: directory, touched, &state, &page)
            }
        }
        return try goOn(&state, page)
    }

    private func look(
        at names: [FileName], in directory: TreePath, _ touched: TouchedPaths, _ state: inout State,
        _ page: inout QueryPage
    ) throws {
        let entries: [FileName: TreeEntry]
        do throws(OperationError) {
            entries = try finder.entries(names, in: directory, as: principal)
        } catch {
            // A change of the directory itself reports that it is gone or closed to the caller; its names need no
            // report.
            guard error.kind == .notFound || error.kind == .denied else { throw error }
            if finder.knowsAll(principal) { page.gone += names.map { Path(directory.appending($0)) } }
            return
        }
        for name in names {
            let path = directory.appending(name)
            guard let entry = entries[name] else {
                page.gone.append(Path(path))
                continue
            }
            if entry.type == .directory, touched.isMoved(path) {
                page.gone.append(Path(path))
                state.walks.append(TreeCursor(in: path))
            }
            tell(entry, &page)
            for other in finder.otherPaths(of: entry) where other.isWithin(scope) {
                if let entry = try? finder.entry(at: other, as: principal) { tell(entry, &page) }
            }
        }
    }

    private func tell(_ entry: TreeEntry, _ page: inout QueryPage) {
        let before = page.items.count
        add([entry], to: &page)
        guard page.items.count == before else { return }
        if entry.type == .directory {
            page.unmatched.append(Path(entry.path))
        } else {
            page.gone.append(Path(entry.path))
        }
    }
}
