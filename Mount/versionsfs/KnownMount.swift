// Writing down that a container was mounted on this machine, for `versionsctl list`.

import ControlProtocol
import LocalState
import SystemPackage

enum KnownMount {
    /// How long a mount waits for that, and for its log: the directory may lie on a network's file system that does not
    /// answer.
    static let patience = 1.0

    /// Adds a container to the list. Where that cannot be, the container is listed while it is mounted.
    static func note(_ container: FilePath, on mountpoint: FilePath) {
        let path = Path(bytes: container.bytes)
        let covered = LogDestination.covered(path, Path(bytes: mountpoint.bytes))
        TimeLimit.run(seconds: patience) {
            _ = StateHome().lists(outside: covered).first { KnownContainers.add(path, in: $0) }
        }
    }
}
