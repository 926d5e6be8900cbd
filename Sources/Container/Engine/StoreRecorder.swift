// The engine records its facts in the container's store.

import Lineage
import VersionModel
import VersionStore

/// Facts in the catalog, as the engine writes and reads them, with the attributes that files have when they are saved.
final class StoreRecorder: FactRecorder {
    private let store: FactStore
    private let files: FilesInReach
    /// A closure in a lock by itself would be wrapped once more with each look.
    private struct Origins { var find: (@Sendable ([Fact]) -> UInt64?)? }
    private let origins = RankedMutex(Origins())
    /// Of versions that are not told yet.
    private let details = RankedMutex([VersionNumber: VersionDetail]())
    /// Of more than that, the file is looked at when they are told.
    private static let mostDetails = 4096

    init(_ store: FactStore, files: FilesInReach) { (self.store, self.files) = (store, files) }

    /// Says which claim's purpose a transaction is made for.
    func connect(_ origin: @escaping @Sendable ([Fact]) -> UInt64?) { origins.withLock { $0.find = origin } }

    var log: any FactLog { store.facts() }
    func isSound(_ log: any FactLog) -> Bool { (log as? StoredFacts)?.failure == nil }
    func reserve(_ count: UInt64) -> UInt64 { store.reserve(count) }
    func finish(_ first: UInt64) { store.finish(first) }

    func describe(_ facts: [Fact]) {
        for fact in facts {
            switch fact {
            case .version(let version), .amend(let version):
                let detail = detail(of: version)
                details.withLock { details in
                    if details.count >= Self.mostDetails { details.removeAll() }
                    details[version.number] = detail
                }
            case .forget(let version): details.withLock { $0[version] = nil }
            case .row, .settle, .publish, .purge: continue
            }
        }
    }

    private func detail(of version: VersionRow) -> VersionDetail {
        guard let found = files.attributes(of: version.file) else { return VersionDetail() }
        return VersionDetail(attributes: found.rights, changed: found.changed)
    }

    func commit(_ told: FactTransaction, from first: UInt64, last: UInt64) {
        var transaction = told
        for fact in told.facts {
            switch fact {
            case .version(let version), .amend(let version):
                let known = details.withLock { $0.removeValue(forKey: version.number) }
                var detail = known ?? detail(of: version)
                detail.alias = told.detail(of: version.number)?.alias
                transaction.describe(version.number, detail)
            case .row, .settle, .forget, .publish, .purge: continue
            }
        }
        if let origin = origins.withLock(\.find)?(told.facts) { transaction.events.append(.origin(origin)) }
        store.commit(transaction, from: first, last: last)
    }
}
