// Nothing to call: the library is preloaded (LD_PRELOAD).
#pragma once
