// Files that were there before anything was recorded of them.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension Engine {
    /// The file that a name has by the facts. The catalog is asked if memory does not know.
    func occupant(of place: PlaceNumber) throws(Errno) -> FileID? {
        while true {
            let log = PlanLog(known)
            let row = log.lastRow(at: place)
            if log.missing.isEmpty { return row?.file }
            try load(log.missing)
        }
    }

    /// Whether any fact tells of a file.
    func isKnown(_ file: FileID) throws(Errno) -> Bool {
        while true {
            let log = PlanLog(known)
            let row = log.lastRow(of: file)
            if log.missing.isEmpty { return row != nil }
            try load(log.missing)
        }
    }

    /// The removal by which a place lost the file that it has again by a row.
    func removal(before row: NameRow) throws(Errno) -> RowNumber? {
        while true {
            let log = PlanLog(known)
            let occupant = log.lastOccupant(of: row.place, before: row.number)
            let departure = occupant.flatMap { log.firstRow(at: row.place, after: $0.number) }
            if log.missing.isEmpty {
                return occupant?.file == row.file && departure?.how == .removed ? departure?.number : nil
            }
            try load(log.missing)
        }
    }

    /// The names of a file, or of a directory, by the facts.
    func names(of file: FileID) throws(Errno) -> [NameRow] {
        while true {
            let log = PlanLog(known)
            let rows = log.names(of: file)
            if log.missing.isEmpty { return rows }
            try load(log.missing)
        }
    }

    /// The document of versions; nil if they are of several.
    func document(ofAll versions: [VersionNumber]) throws(Errno) -> DocumentNumber? {
        while true {
            let log = PlanLog(known)
            let facts = Facts(over: log)
            let documents = Set(versions.map { facts.document(of: $0) })
            if log.missing.isEmpty { return documents.count == 1 ? documents.first ?? nil : nil }
            try load(log.missing)
        }
    }

    /// What a document's names show by the facts.
    func current(of document: DocumentNumber) throws(Errno) -> VersionRow? {
        while true {
            let log = PlanLog(known)
            let facts = Facts(over: log)
            let version = facts.current(of: document).flatMap { facts[$0] }
            if log.missing.isEmpty { return version }
            try load(log.missing)
        }
    }

    /// A file of which no row tells has a document from now on, whose first version is the file's content. A
    /// directory, a symlink or a special file has a row.
    ///
    /// - Parameter isThere: whether the name has that file. It is asked with the names held.
    func adopt(
        _ name: FileAtPlace, isThere: (borrowing NamesHeldAlone) throws(Errno) -> Bool
    ) throws(Errno) {
        let subject: Subjects = [.file(name.file)]
        subjects.take(subject)
        defer { subjects.giveBack(subject) }
        while true {
            let log = PlanLog(known)
            let facts = Facts(over: log)
            let (last, known) = (facts.lastRow(at: name.place), facts.names(of: name.file))
            guard let status = try parts.files.status(of: name.file) else { throw Errno(rawValue: ESTALE) }
            let version = known.isEmpty && status.isRegular ? try firstVersion(of: name.file, status) : nil
            // A file that had a document before begins another one.
            let identity = log.lastRow(of: name.file) == nil ? version.flatMap { _ in parts.identity(name.file) } : nil
            if !log.missing.isEmpty {
                try load(log.missing)
                continue
            }
            guard last?.file == nil else { throw Errno(rawValue: ESTALE) }
            try names.writing { (names) throws(Errno) in
                guard try isThere(names), PlanLog(self.known).lastRow(at: name.place)?.number == last?.number else {
                    throw Errno(rawValue: ESTALE)
                }
                record(name, status.entryType, known.first, version, as: identity)
            }
            return
        }
    }

    /// - Parameter identity: by which the document was shown until now, and its version by one derived from it.
    private func record(
        _ name: FileAtPlace, _ type: EntryType, _ other: NameRow?, _ version: VersionRow?, as identity: ItemID?
    ) {
        let first = parts.recorder.reserve(2)
        defer { parts.recorder.finish(first) }
        var row = NameRow(
            number: RowNumber(first), time: parts.clock.now(), place: name.place, file: name.file, how: .found,
            actor: nil)
        row.hasNoVersions = type != .file
        // A further name of a file that is known.
        if let other, type == .file { row.document = other.document }
        var facts = [Fact.row(row)]
        if var version {
            (version.number, version.row) = (VersionNumber(first + 1), row.number)
            facts.append(.version(version))
        }
        known.record(facts)
        parts.recorder.describe(facts)
        var told = FactTransaction(facts)
        if type != .file || identity != nil { told.describe(row.number, NameDetail(type: type, document: identity)) }
        if let identity, let version {
            let shown = VersionID(
                derivedFrom: identity, size: version.fingerprint.size, modified: version.modified)
            told.describe(VersionNumber(first + 1), VersionDetail(alias: shown))
        }
        parts.recorder.commit(told, from: first, last: first + UInt64(facts.count) - 1)
    }

    /// The version that a file holds; its number and row are to be given.
    private func firstVersion(of file: FileID, _ status: FileStat) throws(Errno) -> VersionRow {
        let opened = try parts.files.open(file)
        // Of a lost catalog's time there may be a content of this file that no fact tells of.
        let content = Content(file: file, generation: known.lastNumber << Self.generationShift)
        return VersionRow(
            number: VersionNumber(0), time: status.modified, row: RowNumber(0), content: content,
            fingerprint: FileLooks.fingerprint(of: opened.raw, status, as: content), file: file,
            modified: status.modified, author: nil)
    }
}
