// When nothing may be changed: mounted so, or because no change can be recorded.

import SystemPackage
import VersionStore

extension LiveContainer {
    /// Whether changes are refused with EROFS. Reads go on.
    public var refusesChanges: Bool { options.isReadOnly || store.isWritingRefused }

    /// Called with no lock held, before a change begins.
    public func refuseIfReadOnly() throws(Errno) {
        if refusesChanges { throw .readOnlyFileSystem }
    }
}
