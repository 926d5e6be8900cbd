// A directory goes back in place to what it was, over the engine: where what is missing comes from, and the rights.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension DirectoryReturn {
    /// The documents that were there, in an order of their places.
    var documents: [(Place, NameThen)] {
        then.filter { !$0.value.row.hasNoVersions }.map { ($0.key, $0.value) }.sorted { one, other in
            (one.0.directory.number, one.0.name) < (other.0.directory.number, other.0.name)
        }
    }

    /// Whether nothing was saved yet of what a place has.
    func isUnsaved(_ place: Place) throws -> Bool {
        try facts.name(at: place).map { !$0.row.hasNoVersions && $0.version == nil } ?? false
    }

    // MARK: Where it comes from

    /// Another name that has what one has lost, with what it held.
    func otherName(of was: NameThen) throws -> Place? {
        guard !was.row.hasNoVersions else {
            guard was.type != .directory, let file = was.row.file else { return nil }
            return try facts.names(of: file).first
        }
        let held = try moment.content(of: was)
        return try facts.names(of: was.row.document).map(\.place).first { place in
            if try moment.isWithin(place.directory, top),
                try facts.name(at: place, at: moment.number)?.row.document == was.row.document
            {
                return true
            }
            guard let held, !held.isCut, let there = try facts.name(at: place)?.version else { return false }
            return try moment.holds(there, held, path)
        }
    }

    /// The entry by which it is undeleted; nil if it has a name, or is gone for good.
    func departed(_ was: NameThen) throws -> (entry: DeletedFact, deletion: Deletion)? {
        let entry = try was.row.hasNoVersions
            ? was.row.file.flatMap { file throws(StoreError) in try facts.departed(file) }
            : facts.departed(was.row.document)
        guard let entry, let deletion = try moment.ground.past.deletions([entry]).first else { return nil }
        return (entry, deletion)
    }

    // MARK: Rights

    /// Refuses what the caller's rights on the directories and files concerned do not allow, before anything is done.
    func requireRights(of principal: Principal) throws {
        guard !principal.isRoot else { return }
        let live = moment.live
        var moved: Set<TreePath> = []
        for step in steps {
            switch step {
            case .move(let from, let home):
                try requireHome(home, principal)
                guard let path = path(of: from) else { continue }
                moved.insert(path)
                try live.requireChange(of: path, removing: true, as: principal)
            case .bring(let home):
                try requireHome(home, principal)
                if let was = then[home] { try requireReturn(of: was, principal) }
            case .remove: continue
            }
        }
        for case .remove(let place) in steps {
            if let path = path(of: place) { try live.requireDisplacing(path, except: moved, as: principal) }
        }
        for place in moment.untold where try moment.isWithin(place.directory, top) {
            guard let path = path(of: place), try !live.isBeingWritten(path) else { continue }
            try live.requireChange(of: path, removing: true, as: principal)
        }
        for (place, was) in documents {
            guard let path = path(of: place), let there = try facts.name(at: place)?.version,
                let held = try moment.content(of: was), try !moment.holds(there, held, path)
            else { continue }
            try live.requireWriting(to: path, as: principal)
            try requireReading(held, path, principal)
        }
    }

    private func path(of place: Place) -> TreePath? { finder.livePath(of: place.directory)?.appending(place.name) }

    private func requireReading(_ held: ContentThen, _ path: TreePath, _ principal: Principal) throws {
        guard finder.mayRead(held.version, of: held.record(at: path), as: principal) else {
            throw OperationError.denied(path)
        }
    }

    /// The directory that something comes into.
    private func requireHome(_ home: Place, _ principal: Principal) throws {
        if let path = path(of: home) {
            try moment.live.requireChange(of: path, removing: false, as: principal)
        } else if let entry = try facts.departed(home.directory),
            let gone = try moment.ground.past.deletions([entry]).first,
            !AccessRule.allows([.write, .execute], to: principal, on: gone.attributes)
        {
            throw OperationError.denied(gone.path)
        }
    }

    /// What is nowhere. A deleted document that was saved since gets what it held.
    private func requireReturn(of was: NameThen, _ principal: Principal) throws {
        let held = try moment.content(of: was)
        guard let (entry, deletion) = try departed(was), entry.kind != .replaced else {
            return try held.map { try requireReading($0, path, principal) } ?? ()
        }
        guard finder.mayTake(deletion, principal) else { throw OperationError.denied(deletion.path) }
        guard let held, let last = entry.version, try !moment.holds(last, held, deletion.path) else { return }
        guard AccessRule.allows(.write, to: principal, on: deletion.attributes) else {
            throw OperationError.denied(deletion.path)
        }
        try requireReading(held, deletion.path, principal)
    }
}
