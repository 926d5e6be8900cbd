// Files that were there before anything was recorded of them.

import Glibc
import Lineage
import SystemPackage
import VersionModel

extension Engine {
    /// A file of which no row tells has a document from now on, whose first version is what the file holds.
    ///
    /// - Parameter isThere: whether the name has that file. It is asked with the names held.
    func adopt(
        _ name: FileAtPlace, isThere: (borrowing NamesHeldAlone) throws(Errno) -> Bool
    ) throws(Errno) {
        let subject: Set<Subject> = [.file(name.file)]
        subjects.take(subject)
        defer { subjects.giveBack(subject) }
        while true {
            let log = PlanLog(known)
            let facts = Facts(over: log)
            let (last, known) = (facts.lastRow(at: name.place), facts.names(of: name.file))
            let version = known.isEmpty ? try firstVersion(of: name.file) : nil
            if !log.missing.isEmpty {
                self.known.load(log.missing, from: parts.recorder.log)
                continue
            }
            guard last?.file == nil else { throw Errno(rawValue: ESTALE) }
            try names.writing { (names) throws(Errno) in
                guard try isThere(names), PlanLog(self.known).lastRow(at: name.place)?.number == last?.number else {
                    throw Errno(rawValue: ESTALE)
                }
                record(name, known.first, version)
            }
            return
        }
    }

    private func record(_ name: FileAtPlace, _ other: NameRow?, _ version: VersionRow?) {
        let first = parts.recorder.reserve(2)
        defer { parts.recorder.finish(first) }
        var row = NameRow(
            number: RowNumber(first), time: parts.clock.now(), place: name.place, file: name.file, how: .found,
            actor: nil)
        // A further name of a file that is known.
        if let other { row.document = other.document }
        var facts = [Fact.row(row)]
        if var version {
            (version.number, version.row) = (VersionNumber(first + 1), row.number)
            facts.append(.version(version))
        }
        known.record(facts)
        parts.recorder.commit(facts)
    }

    /// The version that a file holds; its number and row are to be given.
    private func firstVersion(of file: FileID) throws(Errno) -> VersionRow? {
        guard let status = try parts.files.status(of: file), status.isRegular else { return nil }
        let opened = try parts.files.open(file)
        let content = Content(file: file, generation: 0)
        return VersionRow(
            number: VersionNumber(0), time: status.modified, row: RowNumber(0), content: content,
            fingerprint: FileLooks.fingerprint(of: opened.raw, status, as: content), file: file,
            modified: status.modified, author: nil)
    }
}
