// When versions go, those that went back to them have other parents (``Splice``): labels and documents in memory are
// told.

import Synchronization
import VersionModel
import VersionStore

extension LiveContainer {
    /// Writes a version's parents from the catalog to its content's label, from which a lost catalog is rebuilt, and to
    /// its document, from which the label of a current version is made.
    ///
    /// - Parameter mayWait: whether the caller holds no document's lock. Otherwise a locked document is skipped: its
    ///   label then names a deleted parent, which is incomplete but not wrong.
    func tellParents(of id: VersionID, mayWait: Bool) {
        guard let version = try? store.version(id), let item = try? store.item(version.item) else { return }
        guard let place = item.places.first, let document = documents.documentInMemory(at: place) else {
            return relabelParents(version)
        }
        if mayWait {
            document.state.withLock { tellParents(version, &$0) }
        } else {
            document.state.withLockIfAvailable { tellParents(version, &$0) }
        }
    }

    /// The same after a check has repaired what versions name as their parents.
    public func tellRepaired(_ findings: [Finding]) {
        for finding in findings where finding.kind == .parentsInACircle && finding.isRepaired {
            if let id = VersionID(hex: finding.subject) { tellParents(of: id, mayWait: true) }
        }
    }

    private func tellParents(_ version: Version, _ state: inout Document.State) {
        if state.current?.id == version.id { state.current?.parents = version.parents }
        relabelParents(version)
    }

    private func relabelParents(_ version: Version) {
        custodian.relabel(version.id, in: version.content) { $0.parents = version.parents }
    }
}
