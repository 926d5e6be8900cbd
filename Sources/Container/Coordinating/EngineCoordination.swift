// What coordination asks of a container over the engine.

import Lineage
import VersionModel
import VersionStore

/// The documents of clients' items, and the claims that programs' changes are made in.
final class EngineCoordination: CoordinatedContainer {
    let serving: Serving
    private let recorded: RecordedTree
    private let past: FactHistory
    private let container: ContainerID

    init(_ recorded: RecordedTree, serving: Serving, _ past: FactHistory, of store: ContainerState) {
        (self.recorded, self.serving, self.past) = (recorded, serving, past)
        container = store.identity.container
    }

    var tree: LiveTree { recorded.tree }
    func requester(_ caller: Caller) -> Requester { recorded.callers.requester(caller) }

    func identity(of node: Node) -> ItemID? {
        guard node.isRegular else { return nil }
        if let name = tree.nodes.location(node).name,
            let item = try? past.item(at: Place(directory: name.parent.file, name: name.name)),
            item.file.id == node.file
        {
            return item.id
        }
        return DerivedIdentity.item(node.file, in: container)
    }

    /// The purpose of the claim that a transaction is made in.
    func origin(of facts: [Fact]) -> UInt64? {
        guard coordinator.isInUse else { return nil }
        for fact in facts {
            guard let (number, document, actor) = subject(of: fact), let actor,
                let place = try? recorded.facts.place(number),
                let path = recorded.path(of: place.directory)?.appending(place.name),
                let process = (try? recorded.facts.actor(actor))??.author.process,
                let origin = coordinator.origin(
                    of: recorded.callers.actor(thread: process), at: path, from: nil,
                    item: document.flatMap { identity(of: $0) })
            else { continue }
            return origin
        }
        return nil
    }

    /// A document that goes on at a name is there for those that present it, wherever it was meanwhile.
    func noteReturn(by plan: Plan, to name: FileName, in parent: Node) {
        guard coordinator.isInUse, let path = tree.nodes.path(parent)?.appending(name) else { return }
        for case .row(let row) in plan.facts where row.file != nil && row.isContinuing {
            if let item = identity(of: row.document) { coordinator.returned(item, to: path) }
        }
    }

    /// Answers at once: no row waits to be written for it. That of a file found below has the identity of the file.
    private func identity(of document: DocumentNumber) -> ItemID? {
        let first = RowNumber(document.number)
        if let row = recorded.engine.known.row(first), row.how == .found, let file = row.file {
            return DerivedIdentity.item(file, in: container)
        }
        do throws(StoreError) {
            return recorded.facts.id(of: document, try recorded.facts.writtenDetail(of: first))
        } catch { return nil }
    }

    private func subject(of fact: Fact) -> (PlaceNumber, DocumentNumber?, ActorNumber?)? {
        switch fact {
        case .row(let row): return (row.place, row.file == nil ? nil : row.document, row.actor)
        case .version(let version), .amend(let version):
            guard let row = recorded.engine.known.row(version.row) else { return nil }
            return (row.place, row.document, version.author)
        case .settle, .forget, .publish, .purge: return nil
        }
    }
}
