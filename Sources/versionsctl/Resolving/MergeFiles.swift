// The four files of a three-way merge, named as git's merge tools know them.

import ControlProtocol
import VersionsClient

/// LOCAL, BASE, REMOTE and MERGED in a temporary directory.
struct MergeFiles {
    let local: Path
    let base: Path
    let remote: Path
    let merged: Path

    /// - Parameter document: its extension is theirs, so that tools know the language.
    init(for document: Path, in directory: Path) {
        let parts = document.lastComponent.bytes.split(separator: 46, omittingEmptySubsequences: false)
        let suffix = parts.count > 1 ? [46] + Array(parts[parts.count - 1].prefix(16)) : []
        let file = { (kind: String) in Path(bytes: directory.bytes + [47] + Array(kind.utf8) + suffix) }
        (local, base, remote, merged) = (file("LOCAL"), file("BASE"), file("REMOTE"), file("MERGED"))
    }

    /// As the environment of a merge tool.
    var environment: [(String, Path)] { [("LOCAL", local), ("BASE", base), ("REMOTE", remote), ("MERGED", merged)] }
}
