// Limits the daemon's memory: objects that can be made again are removed when there are many.

import CLinux
import Collections
import DequeModule
import Glibc
import Synchronization
import VersionModel

extension LiveContainer {
    /// Removes unused documents: first those without a use since the last time, then the others.
    func letDocumentsGo() {
        let now = now
        let mayMatter = { [observers] (actor: FileActor) in observers.isKnown(actor.ref) }
        for evenUsed in [false, true] where documents.count > DocumentIndex.limit / 2 {
            for directory in documents.directories {
                // The lock is taken for each directory: a change of a name waits for one of them at most.
                names.reading {
                    documents.letGo(
                        in: directory, now: now, evenUsed: evenUsed, written: { writtenPlaces }, keepsSaver: mayMatter)
                }
            }
        }
        documents.forgetSavers(unless: mayMatter)
        documents.settle()
        linux_return_memory()
    }

    private var writtenPlaces: Set<Place> {
        openFiles.all.reduce(into: []) { places, file in
            if file.isWriter { places.formUnion(nodes.names(file.node).map(\.place)) }
        }
    }

    /// The number of files that may stay registered for passthrough while not open, and the surplus before they are
    /// dropped.
    static let idleRegistrations = 8192
    private static let surplusRegistrations = 1024

    /// Notes a registration. A background thread drops the oldest files that are not open if there are too many.
    func noteRegistration(_ node: Node) {
        let isCrowded = registrations.withLock { queue in
            queue.append(node.id)
            return queue.count > Self.idleRegistrations && queue.count.isMultiple(of: Self.surplusRegistrations)
        }
        if isCrowded { timers.after(0) { [weak self] in self?.dropSurplusRegistrations() } }
    }

    private func dropSurplusRegistrations() {
        let surplus = registrations.withLock { queue in
            let count = max(0, queue.count - Self.idleRegistrations)
            defer { queue.removeFirst(count) }
            return Array(queue.prefix(count))
        }
        for id in surplus {
            if let node = nodes[id], !dropRegistration(node) { registrations.withLock { $0.append(id) } }
        }
    }
}
