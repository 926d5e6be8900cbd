// A mistake that the crash tests have to find, in debug builds only.

import Glibc

enum PlantedBug {
    /// Whether what is about to be overwritten is not kept.
    static let keepsNothing: Bool = {
        #if DEBUG
            return getenv("VERSIONSFS_PLANTED_BUG") != nil
        #else
            return false
        #endif
    }()
}
