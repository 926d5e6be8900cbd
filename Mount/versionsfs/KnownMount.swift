// Writing down that a container was mounted on this machine, for `versionsctl list`.

import ControlProtocol
import Dispatch
import LocalState
import SystemPackage

enum KnownMount {
    /// How long a mount waits for that: the directory may lie on a network's file system that does not answer.
    private static let patience = 1.0

    /// Adds a container to the list. Where that cannot be, the container is listed while it is mounted.
    static func note(_ container: FilePath, on mountpoint: FilePath) {
        let path = Path(bytes: container.bytes)
        let covered = LogDestination.covered(path, Path(bytes: mountpoint.bytes))
        let isDone = DispatchSemaphore(value: 0)
        ThreadStart {
            _ = StateHome().lists(outside: covered).first { KnownContainers.add(path, in: $0) }
            isDone.signal()
        }.run()
        _ = isDone.wait(timeout: .now() + patience)
    }
}
