// Contents that operations bring along.

import Lineage
import VersionModel

extension World {
    /// A new file with a new letter, as a merge of a document's current version and its oldest conflict.
    mutating func makeMerge(_ actor: ActorNumber, _ place: PlaceNumber) -> Merged? {
        guard let document = facts.occupant(of: place)?.document, let current = facts.current(of: document),
            let loser = facts.conflicts(of: document).first
        else { return nil }
        let (file, content) = (newFile(), newContent())
        let now = now
        make { $0.setContent(file, content, at: now) }
        return Merged(by: actor, in: file, content, modified: now, of: loser, and: current)
    }

    /// A new letter that is kept, durably.
    mutating func makeAdded(_ actor: ActorNumber, isConflict: Bool) -> Added {
        let (file, bytes) = (newFile(), newContent())
        let content = Content(file: file, generation: 0)
        make { $0.objects.append(Disk.Object(content: content, bytes: bytes, labels: [])) }
        return Added(by: actor, content, bytes, modified: now, isConflict: isConflict)
    }

    /// Makes something durably before the event.
    private mutating func make(_ change: (inout Disk) -> Void) {
        change(&disk)
        synchronized = synchronized?.adding(change)
    }

    private mutating func newContent() -> Fingerprint {
        lastLetter += 1
        return Fingerprint.empty.writing(lastLetter, at: 0)
    }
}
