// The command line of VersionsFS.

import Glibc

exit(await Tool.run(ArgumentBytes.commandLine()))
