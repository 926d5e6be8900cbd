// Files that a kill or a power cut has left in parts give way to the newest whole versions before them.

import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel
import VersionStore

extension EngineContainer {
    /// Does what settling leaves to the mount.
    func finish(_ settled: Settled) {
        // Until the rules know them as open.
        for file in settled.stillWritten { recorded.engine.lasting.set(.file(file), true) }
        for file in settled.torn.sorted() {
            giveWay(file, settled.last)
            settled.marks.remove(.file(file))
        }
    }

    /// The bytes of a torn file are a version by now, which is marked as unfinished. The newest whole version before it
    /// is current again, as if a user had restored it. No request has come yet.
    ///
    /// - Parameter last: the last fact from before a kill.
    private func giveWay(_ file: FileID, _ last: UInt64?) {
        do {
            let live = try recorded.files.open(file)
            let names = try recorded.engine.names(of: file).filter { !$0.hasNoVersions }
            var documents: Set<DocumentNumber> = []
            for row in names where documents.insert(row.document).inserted { try giveWay(file, row, last) }
            TornMark.remove(from: live.raw)
        } catch {
            options.logger.error(
                "a file that was left in parts stays as it is: \(error)", metadata: ["file": "\(file)"])
        }
    }

    private func giveWay(_ file: FileID, _ row: NameRow, _ last: UInt64?) throws {
        guard let torn = try recorded.engine.current(of: row.document), torn.content.file == file,
            let path = recorded.path(of: row)
        else { return }
        let document = try finder.document(at: path, as: .container)
        let rows = try candidates(file, document, before: torn)
        // A part that was kept is a version by its label alone: no program was told of that before the kill.
        let parts = rows.filter { row in last.map { row.number.number > $0 } ?? false }
        var told = FactTransaction()
        told.changes = ([torn] + parts).map { .marks($0.number, added: .unfinished, removed: []) }
        facts.commit(told)
        for row in rows where !parts.contains(row) && row.fingerprint != torn.fingerprint {
            let detail = try facts.detail(of: row.number)
            guard let id = facts.id(of: row.number, detail), let version = try browsing.past.version(id),
                version.flags.isDisjoint(with: [.unfinished, .contentLost]), try isWhole(version, row, document)
            else { continue }
            _ = try work.restore(version, of: document, to: nil, as: .container)
            options.logger.warning(
                "a save was cut short: the version before it is current again, and it is in the history",
                metadata: ["file": "\(path)"])
            return
        }
    }

    /// What a document may have been before, newest first. Of what the same file had, labels alone may tell: then it is
    /// beside the name, or another document's.
    private func candidates(
        _ file: FileID, _ document: DocumentRecord, before torn: VersionRow
    ) throws -> [VersionRow] {
        let log = facts.facts()
        var rows: [VersionNumber: VersionRow] = [:]
        for row in log.versions(from: file) where row.content.file == file { rows[row.number] = row }
        for version in document.versions where version.kind == .history {
            guard let number = try facts.version(version.id), let row = log.version(number), row.beside == .no
            else { continue }
            rows[number] = row
        }
        return rows.values.filter { $0.number < torn.number && !$0.isForgotten }.sorted { $0.number > $1.number }
    }

    private func isWhole(_ version: Version, _ row: VersionRow, _ document: DocumentRecord) throws -> Bool {
        guard let content = try? finder.content(of: version, in: document) else { return false }
        let size = try Backing.stat(content.raw).size
        return try VersionBytes(facts: facts).begins(content.raw, size, with: row)
    }
}
