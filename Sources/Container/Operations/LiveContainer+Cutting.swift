// Contents that are longer than what is left of their versions.

import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Gives up versions, and cuts their contents to what the longest one that remains has of each. Called with no lock
    /// held.
    ///
    /// The copies are made first: where there is no room for them nothing has been done. A crash in between leaves the
    /// longer content, of which more versions than that know nothing.
    ///
    /// - Parameter body: gives them up, and returns the bytes that became free.
    /// - Returns: these, and those that were cut off.
    func cutting(_ versions: [Version], _ body: () throws -> UInt64) throws -> UInt64 {
        let contents = Set(versions.map(\.content))
        let beginnings = try beginnings(of: contents, without: Set(versions.map(\.id)))
        var bytes: UInt64
        do { bytes = try body() } catch {
            custodian.drop(beginnings)
            throw error
        }
        bytes += try custodian.put(beginnings)
        // Of those who purge at the same time each may have left it to the other.
        return bytes + (try cut(contents))
    }

    /// Cuts contents to what the versions that name them have of them.
    /// - Returns: the bytes that became free.
    func cut(_ contents: Set<ContentID>) throws -> UInt64 { try custodian.put(try beginnings(of: contents)) }

    private func beginnings(
        of contents: Set<ContentID>, without gone: Set<VersionID> = []
    ) throws -> [ContentStore.Beginning] {
        var made: [ContentStore.Beginning] = []
        do {
            for content in contents {
                guard let size = try custodian.neededSize(of: content, without: gone) else { continue }
                let wanted = store.contents.canReflink ? 0 : size
                made.append(
                    try space.retryingWhenFull(wanted: wanted, mayWait: true) { () throws(Errno) in
                        try custodian.beginning(of: content, size: size)
                    })
            }
        } catch {
            custodian.drop(made)
            throw error
        }
        return made
    }
}
