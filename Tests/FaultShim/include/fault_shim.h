// The library is preloaded (LD_PRELOAD); who wants to call something of it looks it up there.
#pragma once

// The calling thread's process is killed at its next-but-so-many change of a file system, before it or right behind it.
void fault_shim_arm(long calls, int behind);
