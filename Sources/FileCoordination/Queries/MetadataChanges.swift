// Takes the reports of the feeds into the results of a metadata query.

import ControlProtocol
import Foundation

/// The content of one notification.
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
    /// Takes new reports into the results, unless updates are disabled.
    /// - Returns: the notification; nil if no result has changed.
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
            // Scopes may overlap: an item is a result as long as one of them has it.
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
            // An item that has left another name is the same item under a new name.
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
