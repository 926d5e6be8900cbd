// Labels of kept contents: the versions that each is the content of. A lost catalog is made anew from them.

import Logging
import SystemPackage
import VersionModel
import VersionStore

extension Custodian {
    /// Stands for the name of a file that has none.
    private static let nameless = FileName(placeholder: ())

    // MARK: Making labels

    /// A label for a version of any item, which has a name only if the catalog says so.
    func label(of version: Version) -> ContentStore.Label {
        let version = Self.asHistory(version)
        guard let item = try? catalog().item(version.item), let place = item.places.first,
            let path = try? catalog().path(of: item)
        else { return namelessLabel(of: version) }
        return ContentStore.Label(version: version, path: path, place: place)
    }

    func namelessLabel(of version: Version) -> ContentStore.Label {
        ContentStore.Label(version: version, path: .root, place: Place(directory: .root, name: Self.nameless))
    }

    /// A label for a version of a document in memory: as history, which it becomes unless the label is changed.
    func label(of version: Version, _ state: Document.State, _ node: Node) -> ContentStore.Label {
        let place = state.places.first ?? Place(directory: .root, name: node.name?.name ?? Self.nameless)
        return ContentStore.Label(version: Self.asHistory(version), path: nodes.path(node) ?? .root, place: place)
    }

    /// The label for a version that is about to be kept, and those of the other versions that share its content.
    /// - Parameter file: the live file.
    /// - Parameter isForgotten: the version is about to go without a trace: the content is the others'.
    func labels(
        of version: Version, _ state: Document.State, _ node: Node, from file: Int32, isForgotten: Bool = false
    ) -> (first: ContentStore.Label, others: [ContentStore.Label]) {
        let own = label(of: version, state, node)
        let beginning = state.hasGrownSinceLabeled ? synchronized(version, own, file) : []
        guard state.sharesContent, let sharing = try? catalog().versions(sharing: version.content) else {
            return (own, beginning)
        }
        let others = sharing.filter { $0.id != version.id }.map { label(of: $0) }
        // A label of its own would bring it back after a crash.
        if isForgotten, let first = others.first { return (first, Array(others.dropFirst())) }
        return (own, beginning + others)
    }

    /// The part of a version that was synchronized before more was appended to it: if the rest does not reach the disk,
    /// the version is that part.
    private func synchronized(_ version: Version, _ own: ContentStore.Label, _ file: Int32) -> [ContentStore.Label] {
        state.contents.labels(live: FileDescriptor(rawValue: file)).filter {
            $0.version.id == version.id && $0.version.content == version.content && $0.version.size < version.size
        }.prefix(1).map { label in
            var earlier = own
            earlier.version = label.version
            earlier.version.kind = own.version.kind
            return earlier
        }
    }

    private static func asHistory(_ version: Version) -> Version {
        var version = version
        if version.kind == .current { version.kind = .history }
        return version
    }

    /// The labels of a content for all versions that the catalog knows it to be the content of.
    func allLabels(of content: ContentID) throws -> [ContentStore.Label] {
        let versions = try catalog().versions(sharing: content)
        let remaining = Set(versions.map(\.id))
        let known = ((try? state.contents.labels(of: content)) ?? []).filter { remaining.contains($0.version.id) }
        let named = Set(known.map(\.version.id))
        return known + versions.filter { !named.contains($0.id) }.map { label(of: $0) }
    }

    // MARK: Changing labels

    /// Brings a version's label on its kept content up to date. A content that is not kept yet gets its label then.
    func relabel(_ version: Version) {
        relabel(version.id, in: version.content) { $0 = version }
    }

    func relabel(_ version: VersionID, in content: ContentID, _ change: (inout Version) -> Void) {
        guard var labels = try? state.contents.labels(of: content),
            let index = labels.firstIndex(where: { $0.version.id == version })
        else { return }
        change(&labels[index].version)
        do { try write(labels, to: content) } catch {
            logger.warning("a content could not be labeled: \(error)", metadata: ["version": "\(version)"])
        }
    }

    /// A content says of a version that it is history, so that a catalog made anew does not know a resolved conflict
    /// again.
    func relabelAsHistory(_ version: Version) {
        guard var labels = try? state.contents.labels(of: version.content), !labels.isEmpty else { return }
        for index in labels.indices where labels[index].version.id == version.id {
            labels[index].version.kind = .history
        }
        do { try write(labels, to: version.content) } catch {
            logger.warning("a resolved version's content could not be labeled: \(error)")
        }
    }

    /// A content gets labels for further versions, for the day the catalog is lost; until then rows say it.
    func addLabels(to content: ContentID, _ labels: () -> [ContentStore.Label]) {
        guard let known = try? state.contents.labels(of: content), !known.isEmpty else { return }
        try? write(known + labels(), to: content)
    }

    /// A content that outlives a version is labeled for those that have it now, and no longer for the one that is gone:
    /// a lost catalog would be made anew with that.
    func relabel(_ content: ContentID, for remaining: [Version]) {
        guard let labels = try? state.contents.labels(of: content), !labels.isEmpty, let first = remaining.first else {
            return
        }
        let named = Set(remaining.map(\.id))
        var kept = labels.filter { named.contains($0.version.id) }
        guard kept.count < labels.count else { return }
        if kept.isEmpty { kept = [label(of: first)] }
        do { try write(kept, to: content) } catch {
            logger.warning("a content could not be labeled: \(error)", metadata: ["content": "\(content)"])
        }
    }

    func write(_ labels: [ContentStore.Label], to content: ContentID) throws(Errno) {
        try state.contents.relabel(content, labels[0], also: Array(labels.dropFirst()))
    }
}
