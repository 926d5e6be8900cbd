// Limits the daemon's memory: objects that can be made again are removed when there are many.

import CLinux
import Glibc
import Synchronization
import VersionModel

extension LiveContainer {
    /// Removes unused documents: first those without a use since the last time, then the others.
    func removeUnusedDocuments() {
        let now = now
        let mayMatter = { [callers] (actor: FileActor) in callers.isKnown(actor.ref) }
        for evenUsed in [false, true] where documents.count > DocumentIndex.limit / 2 {
            for directory in documents.directories {
                // The lock is taken for each directory: a change of a name waits for one of them at most.
                names.reading {
                    documents.removeUnused(
                        in: directory, now: now, evenUsed: evenUsed, written: { writtenPlaces }, keepsSaver: mayMatter)
                }
            }
        }
        documents.forgetSavers(unless: mayMatter)
        documents.settle()
        linux_return_memory()
    }

    private var writtenPlaces: Set<Place> {
        serving.files.all.reduce(into: []) { places, file in
            if file.isWriter { places.formUnion(nodes.names(file.node).map(\.place)) }
        }
    }
}
