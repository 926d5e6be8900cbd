// The command line of VersionsFS.

import CLinux
import Glibc

// Else the first file that is opened would be taken for one of them.
linux_open_standard_streams()
exit(await Tool.run(ArgumentBytes.commandLine()))
