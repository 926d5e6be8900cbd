// What is left outside of a container that is forgotten.

import ControlProtocol
import Glibc
import LocalState
import VersionsClient

enum LocalTraces {
    /// Removes a container's log, which names files of it, and takes it off the list. What cannot be removed stays.
    static func remove(_ directory: Path) {
        let home = StateHome()
        for list in home.lists(outside: []) { KnownContainers.drop([directory], in: list) }
        for file in LogPlace.files(for: directory, in: home, outside: []) {
            for suffix in ["", LogPlace.predecessorSuffix] {
                Path(bytes: file.bytes + Array(suffix.utf8)).withCString { _ = unlink($0) }
            }
        }
    }
}
