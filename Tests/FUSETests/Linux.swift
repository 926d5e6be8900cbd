// Constants that the C library hides from Swift (_GNU_SOURCE), for x86-64 and arm64.

import Glibc

let O_PATH: Int32 = 0o10000000
let O_TMPFILE: Int32 = 0o20000000 | O_DIRECTORY
let AT_EMPTY_PATH: Int32 = 0x1000
