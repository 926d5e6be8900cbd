// The library is preloaded (LD_PRELOAD) for other programs. The tests are linked with it: their own calls go through
// the functions in the test program, which a preloaded library does not replace.
#pragma once

// The calling thread's process is killed at its next-but-so-many change of a file system, before it or right behind it.
void fault_shim_arm(long calls, int behind);
