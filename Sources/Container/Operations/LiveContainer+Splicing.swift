// After a check has repaired what versions name as their parents (``Splice``), labels and documents are told.

import VersionModel
import VersionStore

extension LiveContainer {
    public func tellRepaired(_ findings: [Finding]) {
        for finding in findings where finding.kind == .parentsInACircle && finding.isRepaired {
            if let id = VersionID(hex: finding.subject) { purgeables.versions.tellParents(of: id, mayWait: true) }
        }
    }
}
