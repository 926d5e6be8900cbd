// Keeping the daemon small: what can be made again is let go once there is much of it.

import CLinux
import Collections
import DequeModule
import Glibc
import Synchronization
import VersionModel

extension LiveContainer {
    /// Lets go of documents that nobody uses: first of those not asked for since the last time, then of the others.
    func letDocumentsGo() {
        let now = now
        let mayMatter = { [observers] (actor: FileActor) in observers.isKnown(actor.ref) }
        for evenUsed in [false, true] where documents.count > DocumentIndex.limit / 2 {
            for directory in documents.directories {
                // For each directory anew: who wants to change a name waits for one of them at most.
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

    /// How many files that are not open may stay registered for passthrough, and how many more before they are dropped.
    static let idleRegistrations = 8192
    private static let surplusRegistrations = 1024

    /// Notes that a file was registered. Of too many the oldest that are not open are dropped, by a thread that nobody
    /// waits for.
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
