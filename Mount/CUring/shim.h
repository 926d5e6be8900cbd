// liburing, for the linker: CRing includes its header by itself, so that Swift need not see what that brings along.
#pragma once
