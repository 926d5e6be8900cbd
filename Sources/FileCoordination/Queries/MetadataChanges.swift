// Taking over into the results of a metadata query what its feeds have told.

import ControlProtocol
import Foundation

/// What one notification tells.
struct MetadataChanges {
    var added: [NSMetadataItem] = []
    var changed: [NSMetadataItem] = []
    var removed: [NSMetadataItem] = []

    var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }

    var userInfo: [String: Any] {
        [
            NSMetadataQueryUpdateAddedItemsKey: added, NSMetadataQueryUpdateChangedItemsKey: changed,
            NSMetadataQueryUpdateRemovedItemsKey: removed,
        ]
    }
}

extension NSMetadataQuery.Run {
    /// Takes over what is new, unless results are to stay as they are.
    /// - Returns: the notification for it; nil if there is nothing to tell.
    mutating func publish(_ number: Int) -> (NSNotification.Name, MetadataChanges)? {
        guard number == self.number, phase == .gathering || phase == .live else { return nil }
        isPublishing = false
        guard disabled == 0 else { return nil }
        let changes = takeOver()
        if phase == .gathering {
            guard isGathered else { return changes.isEmpty ? nil : (.NSMetadataQueryGatheringProgress, changes) }
            phase = .live
            return (.NSMetadataQueryDidFinishGathering, changes)
        }
        return changes.isEmpty ? nil : (.NSMetadataQueryDidUpdate, changes)
    }

    private mutating func takeOver() -> MetadataChanges {
        var changes = MetadataChanges()
        var gone: [String: [NSMetadataItem]] = [:]
        var appeared: [(NSMetadataQuery.Key, QueryItem)] = []
        for key in dirty {
            // Scopes may overlap: it is a result as long as one of them has it.
            let now = feeds.lazy.filter { $0.root == key.root }.compactMap { $0.item(at: key.path) }.first
            switch (results[key], now) {
            case (let item?, let now?) where item.item.id == now.id:
                guard item.item != now else { continue }
                item.item = now
                changes.changed.append(item)
            case (let item, let now):
                if let item {
                    results[key] = nil
                    gone[item.item.id, default: []].append(item)
                }
                if let now { appeared.append((key, now)) }
            }
        }
        dirty = []
        for (key, now) in appeared {
            // What was elsewhere is the same item under another name.
            if let item = gone[now.id]?.popLast() {
                item.item = now
                results[key] = item
                changes.changed.append(item)
            } else {
                let item = NSMetadataItem(now, container: key.root.lastComponent.description)
                results[key] = item
                changes.added.append(item)
            }
        }
        changes.removed = gone.values.flatMap { $0 }
        if !changes.isEmpty { order = nil }
        return changes
    }
}
