// Files that changed where no request told of it: while nothing was mounted, or below the mount.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension Engine {
    /// The content of a file becomes a version without an author if it is not the one recorded last. Of a file that a
    /// program has open, or that has bytes of a program already, the next plan sees that by itself.
    ///
    /// | the file | |
    /// |---|---|
    /// | begins with the version that it held | goes on in the same content |
    /// | does not | is another content; the version's bytes are lost, unless they are kept |
    /// | is a database with a log | is captured later |
    /// | may still be written to by a program from before this mount | is saved by ``UnseenWriters`` |
    ///
    /// A file that was changed while nothing watched it is read, also where its size and its time are as recorded.
    func noteUnseenChange(of file: FileID) throws(Errno) {
        guard let stamp = try parts.files.status(of: file).map(Stamp.init), scene.recall(file)?.stamp != stamp,
            !lookedAt.has(file, stamp)
        else { return }
        var held: Subjects = [.file(file)]
        subjects.take(held)
        defer { subjects.giveBack(held) }
        if scene.remembers(file), !scene.forget(file) { return }
        while true {
            let log = PlanLog(known)
            let facts = Facts(over: log)
            let change = try unseenChange(of: file, facts)
            if !log.missing.isEmpty {
                try load(log.missing)
                continue
            }
            guard !scene.remembers(file) else { return }
            guard let change else { return lookedAt.note(file, stamp) }
            // It would overwrite the version. Nothing is lost meanwhile.
            if change.lost.isEmpty, parts.files.isStillWritten(file) { return }
            let needed = held.union(Subjects(files: [], documents: change.rows.map(\.document)))
            guard needed == held else {
                subjects.giveBack(held)
                held = needed
                subjects.take(held)
                continue
            }
            record(change, facts)
            return lookedAt.note(file, stamp)
        }
    }

    /// A content that no version has.
    private struct UnseenChange {
        var file: LiveFile
        /// A row of each document that it is a version of.
        var rows: [NameRow]
        /// The versions whose bytes are gone.
        var lost: [VersionNumber]
    }

    private func unseenChange(of id: FileID, _ facts: Facts) throws(Errno) -> UnseenChange? {
        guard let former = recalled(id, facts) else { return nil }
        let held = former.holds.flatMap { facts[$0] }
        guard let status = try parts.files.status(of: id) else { return nil }
        let isDoubted = parts.unwatched?.contains(status.changed) ?? false
        let look = try FileLooks(files: parts.files).look(
            at: former, nil, held: held?.fingerprint, isInDoubt: true, isWritten: false, isDoubted: isDoubted)
        guard var file = look?.file else { return nil }
        if file.isChanged || held?.isImage(of: id) ?? false, parts.files.awaitsCapture(id) { return nil }
        guard file.isChanged else { return nil }
        var rows: [NameRow] = []
        for row in facts.names(of: id) where !rows.contains(where: { $0.document == row.document }) {
            let current = facts.current(of: row.document).flatMap { facts.fingerprint($0) }
            if current != file.fingerprint { rows.append(row) }
        }
        guard !rows.isEmpty else { return nil }
        let goesOn = held.map { $0.content == file.content && file.beginsWithHeld } ?? false
        let lost = file.isKept || goesOn ? [] : facts.versions(in: file.content).map(\.number)
        if file.isKept || !goesOn && facts.countOfVersions(in: file.content) > 0 { file.generation &+= 1 }
        return UnseenChange(file: file, rows: rows, lost: lost)
    }

    private func record(_ change: UnseenChange, _ facts: Facts) {
        let file = change.file
        let first = parts.recorder.reserve(UInt64(change.rows.count))
        defer { parts.recorder.finish(first) }
        var recorded: [Fact] = []
        for (index, row) in change.rows.enumerated() {
            var version = VersionRow(
                number: VersionNumber(first + UInt64(index)), time: parts.clock.now(), row: row.number,
                content: file.content, fingerprint: file.fingerprint, file: file.id, modified: file.modified,
                author: nil)
            version.parents = Parents(facts.current(of: row.document))
            version.isAtHome = true
            recorded.append(.version(version))
        }
        let told = facts.feed(of: recorded)
        known.record(recorded)
        parts.recorder.describe(recorded)
        let last = first + UInt64(recorded.count) - 1
        var transaction = FactTransaction(told)
        transaction.lose(change.lost, at: parts.clock.now())
        if !transaction.isEmpty { parts.recorder.commit(transaction, from: first, last: last) }
    }
}
