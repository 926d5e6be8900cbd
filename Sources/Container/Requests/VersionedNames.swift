// Which files get versions over the engine: not those with ignored names, and not the journals of databases.

import Glibc
import Lineage
import SystemPackage
import VersionModel

/// Tells files that have versions from others. Of those others no fact tells, so one of them becomes a document once
/// its name is not ignored any more, with the content that it has then. A document goes on, whatever its name.
final class VersionedNames: Sendable {
    /// gitignore patterns of what gets no versions, beside the settings; only at the root.
    private static let ignoreFile = FileName(".versionsignore")

    let policy: Policy
    private let recorded: RecordedTree

    init(_ recorded: RecordedTree, _ policy: Policy) { (self.recorded, self.policy) = (recorded, policy) }

    /// Whether a name is an ignored one.
    func isIgnored(_ name: FileName, in parent: Node) -> Bool {
        policy.ignores(recorded.tree.path(of: name, in: parent))
    }

    /// Whether a file that gets a free name has no versions there. One of another file system has none.
    func isLeftOut(_ name: FileName, in parent: Node) throws(Errno) -> Bool {
        if parent.isForeign || isIgnored(name, in: parent) { return true }
        guard DatabaseRule.database(ofJournal: name) != nil else { return false }
        return DatabaseRule.isPart(
            name, in: try recorded.tree.names.reading { () throws(Errno) in try recorded.tree.descriptor(of: parent) })
    }

    /// Whether a file has no versions.
    func isLeftOut(_ entry: FoundName) throws(Errno) -> Bool {
        guard entry.stat.isRegular, !entry.isForeign else { return false }
        guard try isLeftOut(entry.name, in: entry.parent) else { return false }
        return try !recorded.isKnown(entry)
    }

    /// The same of the file that a node stands for.
    func isLeftOut(_ node: Node) throws(Errno) -> Bool {
        guard node.isRegular, !node.isForeign, let name = recorded.tree.nodes.location(node).name,
            try isLeftOut(name.name, in: name.parent), let entry = try recorded.entry(name.name, in: name.parent)
        else { return false }
        return try !recorded.isKnown(entry)
    }

    /// Whether git removes something of a repository's own, which no one wants again.
    func isRepositorys(_ parent: Node, _ requester: Requester) -> Bool {
        requester.author.program.utf8.starts(with: "git".utf8)
            && recorded.tree.nodes.path(parent).map(QuietRule.isInRepositoryData) ?? false
    }

    // MARK: The ignore file

    /// Reads `.versionsignore` if it is the file that was saved, renamed, linked or removed.
    func noteChange(of name: FileName, in parent: Node) {
        guard parent.id == Node.rootID, name == Self.ignoreFile else { return }
        policy.ignoreFile = IgnoreFile(name, in: recorded.tree.root.raw)
    }

    func noteChange(of node: Node) {
        guard node.isRegular else { return }
        for name in recorded.tree.nodes.names(node) { noteChange(of: name.name, in: name.parent) }
    }

    /// Reads it again if it has another owner, mode or access list now, or if the root has: on whose owner it depends
    /// whether the file counts.
    func noteChange(ofRightsOf node: Node) {
        guard node.id == Node.rootID else { return noteChange(of: node) }
        readIgnoreFile()
    }

    /// Reads it as it is when the container begins.
    func readIgnoreFile() {
        if let name = Self.ignoreFile { noteChange(of: name, in: recorded.tree.nodes.root) }
    }
}
