// Purging for good what several versions share: a content that outlives a version is cut to what remains of it.

import Glibc
import Synchronization
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
            beginnings.forEach { store.contents.drop($0) }
            throw error
        }
        bytes += try put(beginnings)
        // Of those who purge at the same time each may have left it to the other.
        return bytes + (try cut(contents))
    }

    /// Cuts contents to what the versions that name them have of them.
    /// - Returns: the bytes that became free.
    func cut(_ contents: Set<ContentID>) throws -> UInt64 { try put(try beginnings(of: contents)) }

    private func beginnings(
        of contents: Set<ContentID>, without gone: Set<VersionID> = []
    ) throws -> [ContentStore.Beginning] {
        var made: [ContentStore.Beginning] = []
        do {
            for content in contents {
                guard let (size, _) = try remainder(of: content, without: gone) else { continue }
                let wanted = store.contents.canReflink ? 0 : size
                made.append(
                    try retryingWhenFull(wanted: wanted, mayWait: true) { () throws(Errno) in
                        try store.contents.beginning(of: content, size: size)
                    })
            }
        } catch {
            made.forEach { store.contents.drop($0) }
            throw error
        }
        return made
    }

    /// The part of an object to keep, and its length; nil if a version needs all of it, if no version names it, or if
    /// the content is in a file with a name outside of the objects.
    private func remainder(
        of content: ContentID, without gone: Set<VersionID> = []
    ) throws -> (size: UInt64, length: UInt64)? {
        let place = store.contents.place(of: content)
        guard let stat = try? Backing.stat(path: place.name, in: place.directory.rawValue),
            let longest = try store.versions(sharing: content).filter({ !gone.contains($0.id) }).map(\.size).max(),
            stat.size > longest
        else { return nil }
        return (longest, stat.size)
    }

    private func put(_ beginnings: [ContentStore.Beginning]) throws -> UInt64 {
        var (bytes, rest) = (UInt64(0), beginnings)
        do {
            while let beginning = rest.popLast() { bytes += try lettingGo.withLock { _ in try put(beginning) } }
        } catch {
            rest.forEach { store.contents.drop($0) }
            throw error
        }
        return bytes
    }

    /// Called with ``lettingGo`` held. A thread that has changed the content since the copy handles its own change.
    private func put(_ beginning: ContentStore.Beginning) throws -> UInt64 {
        guard let (size, length) = try remainder(of: beginning.content), size == beginning.size else {
            store.contents.drop(beginning)
            return 0
        }
        try store.contents.put(beginning, try labels(of: beginning.content))
        return length - size
    }

    /// What a content says of itself: all versions that it is the content of.
    private func labels(of content: ContentID) throws -> [ContentStore.Label] {
        let versions = try store.versions(sharing: content)
        let remaining = Set(versions.map(\.id))
        let known = ((try? store.contents.labels(of: content)) ?? []).filter { remaining.contains($0.version.id) }
        let named = Set(known.map(\.version.id))
        return known + versions.filter { !named.contains($0.id) }.map { label(of: $0) }
    }
}
