// How a directory differs from what it was, over the engine: the names of then and of now side by side.

import Lineage
import VersionModel
import VersionStore

/// One comparison, as far as the caller may know it. Used by one thread.
struct MomentComparison {
    private let moment: Moment
    private let principal: Principal
    /// The directories in which something has changed, and those above them.
    private var touched: Set<FileID> = []
    private var found: [PastDifference] = []
    private var known = KnownDirectories()

    private var facts: FactReader { moment.facts }
    private var finder: Finder { moment.ground.finder }

    init(_ moment: Moment, as principal: Principal) throws {
        (self.moment, self.principal) = (moment, principal)
        let past = moment.ground.past
        let names = try past.all { last, limit throws(StoreError) in
            try past.lists.placesChanged(since: moment.number, from: last, limit: limit)
        }
        let saved = try past.all { last, limit throws(StoreError) in
            try past.lists.documentsSaved(since: moment.number, from: last, limit: limit)
        }
        let amended = try moment.amendedVersions.keys.flatMap { try past.lists.names(of: $0) }
        let places = names.map(\.place) + (saved.flatMap(\.names) + amended).map(\.place)
        for directory in Set(places.map(\.directory)) {
            touched.formUnion(try moment.way(of: directory).chain)
            touched.formUnion(try facts.path(of: directory).chain)
        }
    }

    mutating func differences(in path: TreePath) throws -> [PastDifference] {
        try moment.requireHistory(of: path)
        let file = try? moment.live.directory(at: path, as: .container)
        let now = file.map { PastName(file: $0, isDirectory: true, path: path) }
        switch try moment.find(path) {
        case .directory(let then):
            if now != nil, !principal.isRoot, !finder.mayList(path, as: principal) {
                throw OperationError.denied(path)
            }
            try compare(then, now, path)
        case .other: throw OperationError(.invalid, "was not a directory then", path: path)
        case .nothing:
            throw try file.map(moment.had) ?? false ? OperationError.missing(path) : .noDirectoryThen(path)
        }
        return found.sorted { $0.path < $1.path }
    }

    // MARK: Names

    private mutating func compare(_ then: PastName, _ now: PastName?, _ path: TreePath) throws {
        if then.file == now?.file, !touched.contains(then.file) { return }
        let were = try moment.names(in: then)
        let are = try now.map { try moment.names(in: $0, isNow: true) } ?? [:]
        for name in Set(were.keys).union(are.keys) {
            let path = path.appending(name)
            switch (were[name], are[name]) {
            case (let was?, let this?) where was.isDirectory && this.isDirectory:
                if finder.knowsAll(principal) || finder.mayList(path, as: principal) { try compare(was, this, path) }
            case (let was?, let this?) where was.name == nil && this.name == nil: continue
            case (let was?, let this?) where was.name?.row.hasNoVersions ?? false && was.file == this.file: continue
            case (let was, let this): try add(path, was, this)
            }
        }
    }

    private mutating func add(_ path: TreePath, _ was: PastName?, _ this: PastName?) throws {
        var difference = PastDifference(
            path: path, isDirectory: (was ?? this)?.isDirectory ?? false, wasThere: was != nil, isThere: this != nil)
        let then = try was?.name.flatMap { try $0.row.hasNoVersions ? nil : moment.content(of: $0) }
        let current = this?.name?.version
        if let then, let current, try moment.holds(current, then, path) { return }
        // A document that is as it was, as far as anything is known.
        if then == nil, let name = was?.name, !name.row.hasNoVersions,
            name.row.document == this?.name?.row.document
        {
            return
        }
        if let then {
            guard finder.mayRead(then.version, of: then.record(at: path), as: principal) else { return }
            difference.then = .init(version: then.version, document: try document(of: then, path))
        }
        if let was, this == nil || was.file != this?.file, try !mayKnow(was) { return }
        if let this, !this.isDirectory, let document = try? finder.document(at: path, as: principal),
            let current = document.current, finder.mayRead(current, of: document, as: principal)
        {
            difference.now = .init(version: current, document: document)
        }
        found.append(difference)
    }

    private func document(of then: ContentThen, _ path: TreePath) throws -> DocumentRecord {
        do { return try finder.document(then.version.item, as: .container) } catch where error.kind == .notFound {
            return then.record(at: path)
        }
    }

    /// Whether a caller may know of what was deleted.
    private mutating func mayKnow(_ was: PastName) throws -> Bool {
        guard let name = was.name, !finder.knowsAll(principal) else { return true }
        let entry = try name.row.hasNoVersions ? facts.departed(was.file) : facts.departed(name.row.document)
        guard let entry, let deletion = try moment.ground.past.deletions([entry]).first else { return true }
        return finder.mayKnow(deletion, principal, &known)
    }
}
