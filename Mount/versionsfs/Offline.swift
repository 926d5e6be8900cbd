// Serving a container that is not mounted, for `versionsctl`: a few requests on standard input.

import Container
import ControlProtocol
import ControlService
import Logging
import VersionStore

/// `versionsfs --offline DIR`.
enum Offline {
    static func run(_ arguments: Arguments, _ logger: Logger) throws(StartError) {
        let opened = try OpenedContainer(arguments, logger, isReadOnly: false)
        defer { opened.container.close() }
        let backend = ContainerBackend(
            opened.container,
            .init(
                mountpoint: nil, version: ProductVersion.current, log: "stderr",
                transport: { .init(passthrough: false, ring: false) },
                forget: {
                    opened.container.close()
                    try StateRemoval.remove(below: opened.root)
                }))
        OfflineService.run(backend: backend)
    }
}
