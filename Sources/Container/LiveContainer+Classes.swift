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
