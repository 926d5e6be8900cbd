// What Swift sees of libfuse's low-level API: the headers at a fixed API level, and functions for what does not import.
#pragma once
#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>
