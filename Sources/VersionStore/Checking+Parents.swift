// The check of the graph of versions: no version is its own ancestor.

import VersionModel

extension StoreCheck {
    /// Looks for versions of one item with a parent that is their descendant.
    func checkParents(_ versions: [Version]) throws {
        let found = Circles.parents(in: versions.map { HistoryNode($0) })
        if found.isEmpty { return }
        for version in versions {
            guard let later = found[version.id], let again = try store.version(version.id) else { continue }
            let rest = again.parents.filter { !later.contains($0) }
            guard rest.count < again.parents.count else { continue }
            let names = later.sorted().map(\.short).joined(separator: ", ")
            try report(
                .parentsInACircle, version.id.hex, path: try path(of: version),
                "the version goes back to itself, by way of \(names), so that nothing has a base",
                repair: "name no version as its parent that came after it"
            ) {
                relabel(again, rest)
                return [.parents(again.id, rest)]
            }
        }
    }

    /// A catalog that is rebuilt from labels must not have the circle again.
    private func relabel(_ version: Version, _ parents: [VersionID]) {
        guard var labels = try? store.contents.labels(of: version.content),
            labels.contains(where: { $0.version.id == version.id })
        else { return }
        for index in labels.indices where labels[index].version.id == version.id {
            labels[index].version.parents = parents
        }
        try? store.contents.relabel(version.content, labels[0], also: Array(labels.dropFirst()))
    }
}
