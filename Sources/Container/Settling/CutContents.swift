// Kept contents of which a power cut has left a part, as their labels tell.

import Lineage
import VersionModel
import VersionStore

/// Versions that are recorded with less than they were saved with are marked as unfinished.
struct CutContents {
    private var left: [Content: Set<Fingerprint>] = [:]

    init(_ found: Lineage.Found) {
        for label in found.objects.flatMap(\.labels) where label.isPart {
            left[label.version.content, default: []].insert(label.version.fingerprint)
        }
    }

    func marks(of facts: [Fact]) -> [FactChange] {
        facts.compactMap { fact in
            switch fact {
            case .version(let version), .amend(let version):
                guard left[version.content]?.contains(version.fingerprint) ?? false else { return nil }
                return .marks(version.number, added: .unfinished, removed: [])
            case .row, .settle, .forget, .publish, .purge: return nil
            }
        }
    }
}
