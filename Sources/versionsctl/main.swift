// The command line of VersionsFS.

import CLinux
import Glibc

// Else the first file that is opened would be taken for one of them.
linux_open_standard_streams()
let status = await Tool.run(ArgumentBytes.commandLine())
Daemon.endOffline()
exit(status)
