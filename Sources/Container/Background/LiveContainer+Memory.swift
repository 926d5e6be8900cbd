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

    /// How many files that are not open may stay registered for passthrough.
    static let idleRegistrations = 8192

    /// Notes that a file was registered, and drops the registration of the oldest that is not open.
    func noteRegistration(_ node: Node) {
        let surplus: UInt64? = registrations.withLock { queue in
            queue.append(node.id)
            return queue.count > Self.idleRegistrations ? queue.popFirst() : nil
        }
        guard let surplus, let old = nodes[surplus] else { return }
        if !dropRegistration(old) { registrations.withLock { $0.append(surplus) } }
    }
}
