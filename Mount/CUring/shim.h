// liburing for the linker. CRing includes its header itself, so that Swift need not import it.
#pragma once
