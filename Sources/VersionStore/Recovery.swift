// Brings the catalog in line with what lies in the state: after a crash, a copy, or the loss of the catalog.

import Glibc
import SystemPackage
import VersionModel

struct Recovery {
    let opening: StoreOpening
    func translateFileIDs() throws {}
    func readLabels() throws {}
}
