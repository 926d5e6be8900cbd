// Files that are several documents': a further name of a file was renamed over another document, which goes on with it.
// A save in the file is recorded with the first of them. It is a version of the others, too, and each keeps what it
// holds for itself: the next save, which may come by any name, keeps the content of one document only.

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// The documents of a file that has several, each under one of the names that the kernel knows; else none.
    private func sharers(of node: Node) -> [(document: Document, name: Node.Name)] {
        let (first, others) = nodes.allNames(node)
        guard let first, !others.isEmpty else { return [] }
        var found: [(document: Document, name: Node.Name)] = []
        for name in [first] + others {
            guard let document = try? documents.document(at: name.place),
                !found.contains(where: { $0.document === document })
            else { continue }
            found.append((document, name))
        }
        return found.count > 1 ? found : []
    }

    /// Whether a file is several documents', as far as the kernel knows its names.
    func isSharedFile(_ node: Node) -> Bool { !sharers(of: node).isEmpty }

    /// Makes a save in a file a version of each of the file's documents, once no program writes to it.
    func shareSave(in node: Node, from file: SharedDescriptor, _ kind: Save.Kind, by requester: Requester) {
        guard node.isRegular, !sharers(of: node).isEmpty else { return }
        names.writing { (names) throws(Never) in shareSave(names, in: node, from: file, kind, by: requester) }
    }

    /// - Parameter saved: the document that has the save; nil for the first.
    func shareSave(
        _ names: borrowing NamesHeldAlone, in node: Node, from file: SharedDescriptor, _ kind: Save.Kind,
        by requester: Requester, savedIn saved: Document? = nil
    ) {
        let sharers = sharers(of: node)
        guard let first = sharers.first else { return }
        // Under the lock of the first no writer comes to the file.
        first.document.state.withLock { state in
            guard !node.hasWriters, let stat = try? Backing.stat(file.raw) else { return }
            // A database is recorded later: its save is no version yet.
            if saved == nil || saved === first.document, state.contentDiffers(from: stat) { return }
            for (document, name) in sharers.dropFirst() {
                document.state.withLock { share(stat, with: &$0, node, name, from: file, kind, by: requester) }
            }
            share(stat, with: &state, node, first.name, from: file, kind, by: requester)
        }
    }

    private func share(
        _ stat: FileStat, with state: inout Document.State, _ node: Node, _ name: Node.Name,
        from file: SharedDescriptor, _ kind: Save.Kind, by requester: Requester
    ) {
        if state.current != nil, !state.contentDiffers(from: stat) {
            state.stamp = Stamp(stat)
        } else {
            do throws(Errno) {
                try save(
                    &state, node, in: name.parent, name.name, file: file.raw,
                    PendingSave(kind: kind, requester: requester, isSealed: true), stat: stat)
            } catch {
                logger.error(
                    "a save in a file of several documents is not in the history of one: \(error)",
                    metadata: ["file": "\(path(of: name.name, in: name.parent))"])
            }
        }
        keepForItself(&state, of: node, in: file.raw, stat)
    }

    /// A reader of a file has seen the content of each of its documents.
    func readShared(_ node: Node, besides item: ItemID, by actor: FileActor) {
        for (document, _) in sharers(of: node) where document.item != item {
            let (places, version) = document.state.withLock { ($0.places, $0.current?.id) }
            if let version { observers.read(version, of: document.item, at: places, by: actor, now: now) }
        }
    }

    /// A document shares its file with another one, which may change it, or be all that is left of it: what it holds is
    /// kept for itself.
    func keepForItself(
        _ names: borrowing NamesHeldAlone, _ document: Document, of node: Node, in file: Int32, _ stat: FileStat
    ) {
        document.state.withLock { keepForItself(&$0, of: node, in: file, stat) }
    }

    private func keepForItself(
        _ state: inout Document.State, of node: Node, in file: Int32, _ stat: FileStat
    ) {
        guard let current = state.current, !state.contentDiffers(from: stat),
            store.contents.canReflink || current.size <= settings.maxFile
        else { return }
        do throws(Errno) {
            try keepCopy(&state, of: node, from: file, isDurable: true)
            // An object that no row names would belong to no document.
            guard state.isKept, !state.isRecorded, let kept = state.current else { return }
            state.isRecorded = true
            store.commit([.version(kept)] + itemRows(state, stat))
        } catch { logger.error("what shares its file with another document could not be copied: \(error)") }
    }
}
