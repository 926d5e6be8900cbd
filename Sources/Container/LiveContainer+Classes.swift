// Which documents are not like others: ignored, in a repository, quiet.

import Glibc
import VersionModel
import VersionStore

extension LiveContainer {
    /// Whether a name gets no versions by the settings.
    func isIgnored(_ name: FileName, in parent: Node) -> Bool {
        guard !ignore.isEmpty else { return false }
        return ignore.matches(path(of: name, in: parent), isDirectory: false)
    }

    /// Whether a directory is, or lies in, a version-control system's own.
    func isRepositoryInternal(_ directory: Node) -> Bool {
        nodes.chain(directory).contains { QuietRule.repositoryNames.contains($0.place.name) }
    }

    /// Whether conflicts never arise for a document (DESIGN 6.1).
    func isQuiet(_ state: inout Document.State, _ parent: Node, _ name: FileName) -> Bool {
        if let known = state.isQuiet { return known }
        let result = isRepositoryInternal(parent) || quiet.matches(path(of: name, in: parent))
        state.isQuiet = result
        return result
    }
}
