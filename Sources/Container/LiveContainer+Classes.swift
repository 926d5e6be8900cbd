// Which documents are not like others: ignored, in a repository, quiet.

import Glibc
import VersionModel
import VersionStore

extension LiveContainer {
    /// Whether a name gets no versions by the settings.
    func isIgnored(_ name: FileName, in parent: Node) -> Bool {
        guard !ignore.isEmpty else { return false }
        return ignore.ignores(path(of: name, in: parent), isDirectory: false)
    }

    /// Whether a name is the journal of a database that whoever asks has open: part of it, not a document.
    func isJournal(_ name: FileName, in parent: Node, of requester: Requester) -> Bool {
        guard let database = Databases.database(ofJournal: name), let actor = requester.actor?.ref else { return false }
        return openFiles.all.contains { file in
            file.requester.actor?.ref == actor
                && nodes.names(file.node).contains { $0.parent === parent && $0.name == database }
        }
    }

    /// Whether a directory is, or lies in, a version-control system's own.
    func isRepositoryInternal(_ directory: Node) -> Bool {
        nodes.path(directory).map { QuietRule.isInRepositoryData($0) } ?? false
    }

    /// Whether conflicts never arise for a document (DESIGN 6.1).
    func isQuiet(_ state: inout Document.State, _ parent: Node, _ name: FileName) -> Bool {
        if let known = state.isQuiet { return known }
        let result = quiet.isQuiet(path(of: name, in: parent))
        state.isQuiet = result
        return result
    }
}
