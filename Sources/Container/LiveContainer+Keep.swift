// Keeping the content of the current version before it is overwritten or leaves its name (DESIGN 7).

import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// How big a content may be to be copied where an open or a write waits for it.
    static let copiedAtOnce: UInt64 = 1 << 20
    /// The same for what the ballast is given away for.
    private static let copiedOnFull: UInt64 = 64 << 10

    /// Keeps the current version's content by copying it out of the live file, which is about to change in place.
    ///
    /// - Parameter isDurable: the copy is made durable, because a write follows. A truncation the file system orders
    ///   by itself, though not well enough for a content that was synchronized.
    /// - Parameter isNeverGivenUp: also if it is bigger than `max-file`.
    /// - Parameter isForgotten: the document goes without a trace, and the content stays for those that share it.
    func keepCopy(
        _ state: inout Document.State, of node: Node, from descriptor: Int32, isDurable: Bool = false,
        isNeverGivenUp: Bool = false, isForgotten: Bool = false
    ) throws(Errno) {
        guard needsKeeping(state), !isKeptByOther(&state), let current = state.current else { return }
        guard isNeverGivenUp || store.contents.canReflink || current.size <= settings.maxFile else {
            // Beyond `max-file` the older content is given up: the one exception to promise 1.
            state.current?.flags.insert(.contentLost)
            return
        }
        let labels = custodian.labels(of: current, state, node, from: descriptor, isForgotten: isForgotten)
        let isDurable = isDurable || store.contents.mayBeOvertaken && isSynchronized(current, descriptor)
        let wanted = store.contents.canReflink ? 0 : current.size
        try space.retryingWhenFull(wanted: wanted, isRecord: wanted <= Self.copiedOnFull) { () throws(Errno) in
            try custodian.keep(
                copying: descriptor, as: current.content, labels.first, also: labels.others,
                isDurable: isDurable, upTo: state.isAppendedTo && !state.sharesContent ? current.size : .max)
        }
        // A mapping, or a descriptor that synchronizes each write, makes the next content durable without asking us.
        if store.contents.synchronizesOneFile, isSynchronized(current, descriptor) { store.contents.settle() }
        state.isKept = true
        // Bytes written during the copy, or since the hash, belong to the version too: they are in the kept content.
        guard node.mayChange, let kept = asKept(current, size: current.size), kept != current else { return }
        state.current = kept
        custodian.relabel(kept)
        if state.isRecorded { store.commit([.version(kept)]) }
    }

    /// Whether the file says that it was synchronized as this version, or as the beginning of it, here or under the
    /// name that it had then.
    private func isSynchronized(_ current: Version, _ file: Int32) -> Bool {
        store.contents.labels(live: FileDescriptor(rawValue: file)).map(\.version).contains { version in
            version.content == current.content
                || version.size == current.size && version.modified == current.modified
        }
    }

    /// A version according to its copy, if a program may have written to its file during the copy.
    /// - Parameter size: the version's size in the copy, which may be longer; nil for the whole copy.
    func asKept(_ version: Version, size: UInt64?) -> Version? {
        guard let kept = try? store.contents.open(version.content) else { return nil }
        defer { try? kept.close() }
        guard let stat = try? Backing.stat(kept.rawValue) else { return nil }
        var version = version
        version.size = min(size ?? .max, stat.size)
        if version.size <= Self.hashedAtOnce {
            version.hash = ContentHash.sha256(of: kept.rawValue, size: version.size)
        }
        return version
    }

    /// Keeps the current version's content when its file loses its name, in one step if no program can change the file
    /// any more. Called before another file takes the name.
    /// - Parameter isForgotten: the document goes without a trace, and the content stays for those that share it.
    /// - Returns: whether the file itself is now the object.
    @discardableResult
    func keepDisplaced(
        _ names: borrowing NamesHeldAlone, _ state: inout Document.State, of node: Node, _ name: FileName,
        in directory: SharedDescriptor, _ stat: FileStat, isForgotten: Bool = false
    ) throws(Errno) -> Bool {
        guard needsKeeping(state), !isKeptByOther(&state), let current = state.current else { return false }
        let live = state.hasGrownSinceLabeled ? try? Backing.openQuietly(name.bytes, in: directory.raw, stat.key) : nil
        defer { if let live { Glibc.close(live) } }
        let labels = custodian.labels(of: current, state, node, from: live ?? -1, isForgotten: isForgotten)
        if !node.hasWriters, stat.links == 1, !mayStillChange(node, name, in: directory) {
            do {
                try space.retryingWhenFull(isRecord: true) { () throws(Errno) in
                    try custodian.keep(
                        linking: name, in: directory, as: current.content, labels.first, also: labels.others)
                }
                state.isKept = true
                return true
            } catch .notPermitted {
                // fs.protected_hardlinks, or a file system without links: copied below.
            } catch .fileExists {
                // A copy from before this mount, made for a write that did not come.
                // One that is torn is made anew below.
                if store.isWhole(current) {
                    state.isKept = true
                    return false
                }
            }
        }
        let file = try Backing.openQuietly(name.bytes, in: directory.raw, stat.key)
        defer { Glibc.close(file) }
        try keepCopy(&state, of: node, from: file, isForgotten: isForgotten)
        return false
    }

    /// Whether another item that names the same content has had it kept.
    private func isKeptByOther(_ state: inout Document.State) -> Bool {
        guard state.sharesContent, var current = state.current, store.contents.contains(current.content) else {
            return false
        }
        let place = store.contents.place(of: current.content)
        if let kept = try? Backing.stat(Array(place.name.utf8), in: place.directory.rawValue), kept.size >= current.size
        {
            state.isKept = true
            return true
        }
        // That one had not been appended to: what is here now is a content of its own.
        current.content = .random()
        state.current = current
        state.sharesContent = false
        if state.isRecorded { store.commit([.version(current)]) }
        return false
    }

    private func needsKeeping(_ state: Document.State) -> Bool {
        !state.isKept && !state.isReturning && !state.isUnversioned
    }

    /// Whether a mapping from before may still write to a file that no handle has open for writing: while anyone does,
    /// a read lease is refused.
    private func mayStillChange(_ node: Node, _ name: FileName, in directory: SharedDescriptor) -> Bool {
        guard node.openings.state.withLock(\.maybeMapped) else { return false }
        // A file given to the kernel for passthrough would count as a writer.
        serving.passthrough.drop(node)
        guard let file = try? Backing.openQuietly(name.bytes, in: directory.raw, nodes.key(of: node))
        else { return true }
        defer { Glibc.close(file) }
        return WritableMappings.exist(on: file)
    }
}
