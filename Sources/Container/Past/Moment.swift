// What the facts tell of a moment, and what the disk has of which no fact tells.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// What a document held at a moment.
struct ContentThen {
    var version: Version
    /// Its number; of one that was appended to since, the version has its length of then.
    var number: VersionNumber
    var isCut = false
    /// Why it may not be that exactly; nil if it is.
    var doubt: String?

    /// The document, as far as its content has to be found.
    func record(at path: TreePath) -> DocumentRecord {
        DocumentRecord(path: path, item: version.item, versions: [version])
    }
}

/// A name of a moment.
struct PastName {
    /// Of what no fact tells, and is no directory, it is not known.
    var file: FileID
    var isDirectory: Bool
    /// nil for what no fact tells of.
    var name: NameThen?
    /// Where a directory is today, or what no fact tells of; nil if it is gone.
    var path: TreePath?
}

/// The names of a moment. Changes nothing. Used by one thread.
final class Moment {
    let ground: EngineGround
    let live: CallersTree
    let time: Timestamp
    /// The last number that a fact had.
    let number: UInt64
    /// The versions that were amended since, with their lengths of then.
    private let amended: [VersionNumber: UInt64?]
    /// The last of them of each document.
    private(set) var amendedVersions: [DocumentNumber: VersionRow] = [:]
    /// Names made since that are only in memory: their programs have made them up.
    let untold: Set<Place>
    private var ways: [FileID: DirectoryPath] = [:]

    static let notKept = "what it held then is not kept: it has what is nearest to that"

    var facts: FactReader { ground.past.lists }
    private var finder: Finder { ground.finder }

    init(_ live: CallersTree, _ ground: EngineGround, at time: Timestamp) throws {
        (self.live, self.ground, self.time) = (live, ground, time)
        let engine = ground.engine
        // What a program had made up for itself and left is a file like all others by now.
        for row in engine.known.unpublishedNames where row.time <= time { try engine.publish(row) }
        number = try ground.past.lists.number(at: time)
        amended = try ground.past.lists.amended(since: number, time)
        untold = Set(
            try engine.known.unpublishedNames.filter { row in
                try row.time > time && row.file != nil && engine.occupant(of: row.place) == row.file
            }.compactMap { try ground.facts.place($0.place) })
        for version in amended.keys.sorted() {
            guard let listed = try facts.version(version) else { continue }
            amendedVersions[listed.document] = listed.row
        }
    }

    /// Refuses a moment that has not come, and one from before the container.
    func requireHistory(of path: TreePath) throws {
        let now = ground.engine.parts.clock.now()
        guard time <= now else { throw OperationError.notYet(path) }
        let begins = try Beginning(ground.facts).time ?? facts.firstTime() ?? now
        guard time >= begins else { throw OperationError.tooEarly(path, begins: begins) }
    }

    // MARK: Directories

    /// What a path stood for.
    enum Found {
        case directory(PastName)
        case other
        case nothing
    }

    func find(_ path: TreePath) throws -> Found {
        var found = PastName(file: .root, isDirectory: true, path: .root)
        for name in path.names {
            guard found.isDirectory else { return .nothing }
            guard let next = try names(in: found)[name] else { return .nothing }
            found = next
        }
        return found.isDirectory ? .directory(found) : .other
    }

    /// Where a directory was.
    func way(of directory: FileID) throws -> DirectoryPath {
        if let known = ways[directory] { return known }
        let way = try facts.path(of: directory, at: number)
        ways[directory] = way
        return way
    }

    /// Whether a directory was there, in another one or that itself.
    func isWithin(_ directory: FileID, _ top: FileID) throws -> Bool {
        if directory == top { return true }
        let way = try way(of: directory)
        return way.isThere && (top == .root ? way.top == .root : way.chain.contains(top))
    }

    /// Whether a directory that is there was there, under whatever name.
    func had(_ directory: FileID) throws -> Bool {
        if try directory == .root || facts.names(of: directory).isEmpty { return true }
        let way = try way(of: directory)
        return way.isThere && way.top == .root
    }

    // MARK: Names

    /// The names of a directory. Those of which no fact has told yet were there all the time.
    /// - Parameter isNow: as it is now.
    func names(in directory: PastName, isNow: Bool = false) throws -> [FileName: PastName] {
        var names: [FileName: PastName] = [:]
        if let path = directory.path {
            for (name, isDirectory) in try live.entries(of: path).entries {
                let place = Place(directory: directory.file, name: name)
                guard !untold.contains(place), try facts.name(at: place) == nil else { continue }
                let inner = path.appending(name)
                let file = try isDirectory ? live.directory(at: inner, as: .container) : nil
                names[name] = PastName(file: file ?? FileID(0), isDirectory: isDirectory, path: inner)
            }
        }
        let known = try ground.past.all { last, limit throws(StoreError) in
            try facts.names(in: directory.file, at: isNow ? nil : number, after: last, limit: limit)
        }
        for name in known {
            guard let file = name.row.file else { continue }
            let isDirectory = name.type == .directory
            names[name.place.name] = PastName(
                file: file, isDirectory: isDirectory, name: name, path: isDirectory ? finder.livePath(of: file) : nil)
        }
        return names
    }

    func thing(_ name: NameThen) -> NamedThing? {
        guard let file = name.row.file else { return nil }
        let document = name.row.hasNoVersions ? nil : name.row.document
        return NamedThing(file: file, document: document, isDirectory: name.type == .directory)
    }

    // MARK: Contents

    /// One that was amended since has a later time than the moment, so that its number may be larger.
    private func version(of name: NameThen) -> VersionRow? {
        guard let amended = amendedVersions[name.row.document], !name.isFoundLater else { return name.version }
        return name.version.map { $0.number < amended.number ? amended : $0 } ?? amended
    }

    /// What a document held under a name; nil if nothing of that is known.
    func content(of name: NameThen) throws -> ContentThen? {
        guard let row = version(of: name), let version = try ground.past.version(row.number) else { return nil }
        if let size = amended[row.number] {
            if let size, size <= row.fingerprint.size { return cut(version, row.number, size) }
            return try nearest(of: name) { isBefore in
                "it was being written then: it has what was saved \(isBefore ? "before" : "after") that"
            }
        }
        guard version.flags.contains(.contentLost) else { return ContentThen(version: version, number: row.number) }
        return try nearest(of: name) { _ in Self.notKept }
    }

    /// The last content that was saved until then and is kept, else the first one.
    /// - Parameter doubt: of what was saved before, or later.
    func nearest(
        of name: NameThen, _ doubt: (_ isBefore: Bool) -> String = { _ in Moment.notKept }
    ) throws -> ContentThen? {
        guard let item = try facts.id(of: name.row.document) else { return nil }
        let kept = try ground.past.versions(of: item).filter { $0.flags.isDisjoint(with: [.contentLost, .beside]) }
        let before = kept.first { $0.saved <= time }
        guard let version = before ?? kept.last, let number = try ground.facts.version(version.id) else { return nil }
        return ContentThen(version: version, number: number, doubt: doubt(before != nil))
    }

    /// Whether a document's version has the content of then.
    func holds(_ current: VersionRow, _ then: ContentThen, _ path: TreePath) throws -> Bool {
        guard current.fingerprint.size == then.version.size else { return false }
        guard then.isCut else {
            return try current.number == then.number
                || facts.version(then.number)?.row.fingerprint == current.fingerprint
        }
        guard let version = try ground.past.version(current.number) else { return false }
        let held = ContentThen(version: version, number: current.number)
        return try finder.content(of: version, in: held.record(at: path))
            .isEqual(to: finder.content(of: then.version, in: then.record(at: path)))
    }

    private func cut(_ version: Version, _ number: VersionNumber, _ size: UInt64) -> ContentThen {
        var version = version
        (version.size, version.hash, version.modified) = (size, nil, min(version.modified, time))
        return ContentThen(version: version, number: number, isCut: true)
    }
}

/// When the directory became a container, as far as the facts know it.
struct Beginning {
    private static let key = "adopted"
    private let facts: FactStore

    init(_ facts: FactStore) { self.facts = facts }

    var time: Timestamp? {
        get throws(StoreError) {
            let text = try facts.setting(Self.key).map { String(decoding: $0, as: UTF8.self) }
            return text.flatMap { Int64($0) }.map { Timestamp(nanoseconds: $0) }
        }
    }

    /// Called once, at the first opening.
    func note(_ time: Timestamp) {
        var transaction = FactTransaction()
        transaction.changes = [.setting(key: Self.key, value: Array("\(time.nanoseconds)".utf8))]
        facts.commit(transaction)
    }
}
