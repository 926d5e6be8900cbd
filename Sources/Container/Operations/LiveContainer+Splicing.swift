// When versions go, those that went back to them have other parents (``Splice``): labels and documents in memory are
// told.

import Synchronization
import VersionModel
import VersionStore

extension LiveContainer {
    /// What the catalog names as a version's parents is on its content's label, too, from which a lost catalog is made
    /// anew, and in its document, from which the label of a current version will be made.
    ///
    /// - Parameter mayWait: no document is locked by the caller. Else what somebody has locked is passed over: its
    ///   label names one that is gone then, which says less and nothing wrong.
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
        relabel(version.id, in: version.content) { $0.parents = version.parents }
    }
}
