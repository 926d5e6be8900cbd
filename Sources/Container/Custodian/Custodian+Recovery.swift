// Contents after a crash: those that did not reach the disk whole.

import VersionModel
import VersionStore

extension Custodian {
    /// Looks at the contents that were kept just before the end. One that is incomplete is marked unfinished, a missing
    /// one lost.
    /// - Returns: how many.
    func settle(_ recent: [Version]) throws(StoreError) -> Int { try catalog().settleContents(of: recent) }

    /// Keeps the whole content of a version, copied from another item's file if need be.
    /// - Returns: false if there is none.
    func keepWhole(_ version: Version, path: TreePath, place: Place) throws -> Bool {
        try catalog().keepWhole(version, path: path, place: place)
    }

    /// A version with the part of its content that is there.
    func cutShort(_ version: Version) throws -> Version { try catalog().cutShort(version) }

    /// A version as it was synchronized before a later append; nil if it was not, or that is gone.
    func cutToSynchronized(_ version: Version) throws -> Version? { try catalog().cutToSynchronized(version) }
}
