// The calls of Linux that the standard C module leaves out.

#ifndef VERSIONSFS_CLINUX_H
#define VERSIONSFS_CLINUX_H

#include <sys/mount.h>
#include <sys/types.h>
#include <sys/xattr.h>

#endif
