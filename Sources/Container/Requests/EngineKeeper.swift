// What a change of a file's metadata means to the engine.

import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// The engine knows a content by its size, its time and its bytes: a change of the other attributes is none of it. A
/// file whose time was set is looked at once more, and turns out to hold the same bytes. The version that a file holds
/// has the attributes that the file has.
final class EngineKeeper: ContentKeeper {
    private let files: FileRequests
    private let told: ToldAttributes
    private let recorded: RecordedTree
    private let logger: Logger

    init(_ files: FileRequests, _ told: ToldAttributes, _ recorded: RecordedTree, _ logger: Logger) {
        (self.files, self.told, self.recorded, self.logger) = (files, told, recorded, logger)
    }

    func preservingStamp(of node: Node, _ body: () throws(Errno) -> Void) throws(Errno) { try body() }

    func make(
        _ change: MetadataChange, look: () throws(Errno) -> FileStat, _ body: () throws(Errno) -> Void
    ) throws(Errno) -> FileStat {
        try body()
        return try look()
    }

    func metadataChanged(of node: Node, mayHaveMode: Bool, by caller: Caller) {
        files.versioned.noteChange(ofRightsOf: node)
    }

    /// The change is made. If it cannot be recorded, it stays so: the next save has the attributes.
    func attributesChanged(of node: Node, by caller: Caller) {
        files.versioned.noteChange(ofRightsOf: node)
        do throws(Errno) { try record(attributesOf: node, by: caller) } catch {
            logger.info("a change of attributes is not recorded: \(error)")
        }
    }

    /// A file of which no fact tells has been shown by its time until now.
    func timeWillChange(of node: Node) {
        guard node.isRegular else { return }
        do throws(Errno) {
            guard let entry = try entry(node), try !recorded.isKnown(entry) else { return }
            recorded.files.letGo(try recorded.adopt(entry).file)
        } catch { logger.info("a file could not be recorded before its time changes: \(error)") }
    }

    /// The present name of a document or a directory; nil for a node that has no versions.
    private func entry(_ node: Node) throws(Errno) -> FoundName? {
        guard !node.isForeign, let name = recorded.tree.nodes.location(node).name,
            let entry = try recorded.entry(name.name, in: name.parent), entry.node === node, !entry.isForeign,
            try !files.versioned.isLeftOut(entry)
        else { return nil }
        return entry
    }

    private func record(attributesOf node: Node, by caller: Caller) throws(Errno) {
        guard let entry = try entry(node) else { return }
        let program = try recorded.program(caller)
        let found = try recorded.adopt(entry)
        defer { recorded.files.letGo(found.file) }
        let engine = recorded.engine
        guard let row = try engine.names(of: found.file).first(where: { $0.place == found.place }) else { return }
        var transaction = FactTransaction()
        if let version = try engine.current(of: row.document), let now = recorded.files.attributes(of: found.file),
            now.size == version.fingerprint.size, now.modified == version.modified, version.file == found.file
        {
            guard row.maker == nil else { return engine.parts.recorder.describe([.version(version)]) }
            transaction.changes = [
                .attributes(version.number, now.rights), .changed(version.number, now.changed),
            ]
        }
        guard row.maker == nil else { return }
        let circumstances = FactEvent.Circumstances(time: engine.parts.clock.now(), actor: program.number)
        transaction.events = [.attributes(row.number, circumstances)]
        recorded.facts.commit(transaction)
    }

    func resize(_ node: Node, _ handle: UInt64?, to size: off_t, by caller: Caller) throws(Errno) {
        try files.resize(node, handle, to: size, by: caller)
    }

    func versionsAttribute(_ key: String, of node: Node) throws(Errno) -> [UInt8] { try told.value(key, of: node) }
}
