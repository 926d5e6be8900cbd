// The engine records its facts in the container's store.

import Lineage
import VersionModel
import VersionStore

/// Facts in the catalog, as the engine writes and reads them.
struct StoreRecorder: FactRecorder {
    let store: FactStore

    var log: any FactLog { store.facts() }
    func isSound(_ log: any FactLog) -> Bool { (log as? StoredFacts)?.failure == nil }
    func reserve(_ count: UInt64) -> UInt64 { store.reserve(count) }
    func finish(_ first: UInt64) { store.finish(first) }

    func commit(_ told: [Fact], from first: UInt64, last: UInt64) {
        store.commit(FactTransaction(told), from: first, last: last)
    }
}
