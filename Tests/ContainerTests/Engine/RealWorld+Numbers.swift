// Facts have other numbers in the engine than in the world, in the same order.

import Lineage

extension RealWorld {
    private func renumbered(_ version: VersionNumber) -> VersionNumber { VersionNumber(renumbered(version.number)) }

    func renumbered(_ event: Event) -> Event {
        switch event {
        case .undelete(let actor, let row, let place, let file, let takesFormer):
            .undelete(actor, RowNumber(renumbered(row.number)), place, file, takesFormer: takesFormer)
        case .pin(let version): .pin(renumbered(version))
        case .purge(let row): .purge(RowNumber(renumbered(row.number)))
        case .restore(let actor, let place, let version, let file, let losers):
            .restore(actor, place, renumbered(version), file, settling: losers.map(renumbered))
        case .resolve(let document, let losers):
            .resolve(DocumentNumber(renumbered(document.number)), losers.map(renumbered))
        case .drop(let document, let versions, let sparesBases):
            .drop(
                DocumentNumber(renumbered(document.number)), versions.map(renumbered), sparesBases: sparesBases)
        case .put(let actor, let place, let file, let version): .put(actor, place, file, renumbered(version))
        default: event
        }
    }
}
