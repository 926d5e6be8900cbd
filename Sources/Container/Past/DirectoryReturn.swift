// A directory goes back in place to what it was, over the engine: what that takes, and whether the caller may do it.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// What one return of a directory to a moment has to do. Looks, and changes nothing. Used by one thread.
final class DirectoryReturn {
    let moment: Moment
    let path: TreePath
    let top: FileID
    /// What places of the directory had, if they have something else now, or it was saved since.
    private(set) var then: [Place: NameThen] = [:]
    private(set) var steps: [NameStep] = []
    private var now: [Place: NameThen] = [:]

    var facts: FactReader { moment.facts }
    var finder: Finder { moment.ground.finder }

    init(_ moment: Moment, _ path: TreePath, as principal: Principal) throws {
        (self.moment, self.path) = (moment, path)
        let there = try Self.directory(path, moment.live, principal)
        let found = try moment.find(path)
        // What cannot come back under its name is told before the time is looked at.
        if case .absent(let error) = there, !found.isDirectory { throw error }
        try moment.requireHistory(of: path)
        top = try Self.top(moment, path, found, there)
        try compare()
        if case .directory(let name) = found { try findWayDown(name.name) }
        try findSteps()
        try findSaved()
    }

    // MARK: The directory

    private enum There {
        case directory(FileID)
        case absent(OperationError)
    }

    private static func directory(_ path: TreePath, _ live: CallersTree, _ principal: Principal) throws -> There {
        do { return .directory(try live.directory(at: path, as: principal)) } catch let error as OperationError
            where error.kind == .notFound
        { return .absent(error) }
    }

    /// What had another name then keeps the one that it was asked for by.
    private static func top(
        _ moment: Moment, _ path: TreePath, _ found: Moment.Found, _ there: There
    ) throws -> FileID {
        switch (found, there) {
        case (.directory(let name), _): return name.file
        case (.other, _): throw OperationError(.notFound, "was not a directory then", path: path)
        case (.nothing, .directory(let file)):
            if try moment.had(file) { return file }
        case (.nothing, .absent(let error)): throw error
        }
        throw OperationError.noDirectoryThen(path)
    }

    /// The directories above stay what they are today; those that are gone come back.
    private func findWayDown(_ name: NameThen?) throws {
        guard path != .root else { return }
        var (above, passed) = (FileID.root, TreePath.root)
        for next in path.names {
            passed = passed.appending(next)
            let home = Place(directory: above, name: next)
            let there = try facts.name(at: home)
            if passed == path {
                guard let name, there?.row.file != top else { return }
                (then[home], now[home]) = (name, there)
            } else if case .directory(let file) = try Self.directory(passed, moment.live, .container) {
                above = file
            } else if case .directory(let gone) = try moment.find(passed), let name = gone.name, try isGone(gone.file) {
                (then[home], now[home]) = (name, there)
                above = gone.file
            } else {
                throw OperationError.renamedAbove(path)
            }
        }
    }

    private func isGone(_ directory: FileID) throws -> Bool { try facts.names(of: directory).isEmpty }

    // MARK: Names

    private func compare() throws {
        let changed = try moment.ground.past.all { last, limit throws(StoreError) in
            try facts.placesChanged(since: moment.number, below: top, from: last, limit: limit)
        }
        var lost: Set<FileID> = []
        for difference in changed where try moment.isWithin(difference.place.directory, top) {
            let place = difference.place
            now[place] = difference.now
            guard let was = difference.then else { continue }
            if try isKept(was) {
                then[place] = was
            } else if was.type == .directory, let file = was.row.file {
                lost.insert(file)
            }
        }
        guard !lost.isEmpty else { return }
        then = try then.filter { try lost.isDisjoint(with: moment.way(of: $0.key.directory).chain) }
    }

    /// Whether a thing is there, or can come back.
    private func isKept(_ name: NameThen) throws -> Bool {
        if let file = name.row.file, try !facts.names(of: file).isEmpty { return true }
        guard !name.row.hasNoVersions else {
            return try name.row.file.flatMap { file throws(StoreError) in try facts.departed(file) } != nil
        }
        let document = name.row.document
        return try !facts.names(of: document).isEmpty || facts.departed(document) != nil
    }

    private func findSteps() throws {
        let things = then.compactMapValues(moment.thing)
        var present = now.compactMapValues(moment.thing)
        var moving = things
        for (place, there) in now {
            // What is where it was stays there; what has parted from another since was that one then.
            guard let was = then[place] else { continue }
            let isThere = try things[place].flatMap { one in present[place].map(one.isSame) } ?? false
                || !was.row.hasNoVersions && !there.row.hasNoVersions
                    && facts.hasBegun(there.row.document, with: was.row.document)
            if isThere { (moving[place], present[place]) = (nil, nil) }
        }
        var elsewhere: [Place: NamedThing] = [:]
        for was in moving.values {
            for source in try places(of: was) where now[source] == nil && elsewhere[source] == nil {
                // What is where it was stays there.
                let former = try facts.name(at: source, at: moment.number).flatMap(moment.thing)
                if !(former?.isSame(as: was) ?? false) { elsewhere[source] = was }
            }
        }
        var above: [FileID: FileID] = [:]
        for place in [moving.keys, present.keys, elsewhere.keys].joined() where above[place.directory] == nil {
            let way = try facts.path(of: place.directory)
            guard way.isThere else { continue }
            for (directory, next) in zip(way.chain, way.chain.dropFirst()) { above[directory] = next }
        }
        steps = NameSteps.steps(then: moving, now: present, elsewhere: elsewhere, above: above)
    }

    /// Where a thing lies now.
    private func places(of thing: NamedThing) throws -> [Place] {
        let named = try thing.document.map { document throws(StoreError) in try facts.names(of: document).map(\.place) }
        return try (named ?? []) + facts.names(of: thing.file)
    }

    // MARK: Contents

    /// Documents that were saved since where they had their name.
    private func findSaved() throws {
        let saved = try moment.ground.past.all { last, limit throws(StoreError) in
            try facts.documentsSaved(since: moment.number, from: last, limit: limit)
        }
        let amended = try moment.amendedVersions.keys.flatMap { try facts.names(of: $0) }
        for name in saved.flatMap(\.names) + amended where then[name.place] == nil {
            guard try moment.isWithin(name.place.directory, top),
                let was = try facts.name(at: name.place, at: moment.number), was.row.document == name.row.document
            else { continue }
            then[name.place] = was
        }
    }
}

extension Moment.Found {
    fileprivate var isDirectory: Bool { if case .directory = self { true } else { false } }
}
