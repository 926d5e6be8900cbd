// Presenters of clients: their items are looked up with the client's rights. Also their view of the change feed.

import Container
import ControlProtocol
import ControlService
import Coordination
import VersionModel
import VersionStore

extension ContainerBackend {
    func present(
        _ request: PresentRequest, of connection: ConnectionID, peer: Peer
    ) throws(ControlError) -> Presented {
        try answering {
            let purpose = try request.purpose.map { digits throws(ControlError) in
                guard let purpose = Purpose(hex: digits) else {
                    throw ControlError(.invalidParameters, "purpose: not 32 hex digits")
                }
                return purpose
            } ?? .random()
            let presented = try lookingUp { moves in
                try present(request, of: connection, purpose, peer, asOf: moves)
            }
            guard let presented else { throw ControlError(.disconnected, "the client is gone") }
            return presented
        }
    }

    private func present(
        _ request: PresentRequest, of connection: ConnectionID, _ purpose: Purpose, _ peer: Peer, asOf moves: UInt64?
    ) throws -> Coordinator.Registration<Presented> {
        let place = try request.path.map { try presentable($0, peer) }
        // Read before the presentation: a change in between is reported twice rather than never.
        let last = try finder.history.lastTold()
        let sequence = min(request.after ?? last, last)
        let item = PresentedItem(path: place?.path, item: place?.item, origin: purpose.origin)
        // The client may have been away for a while, and its item may have moved.
        let current = sequence < last ? try follow(item, from: sequence, to: last) : item
        let registration = finder.coordinator.present(
            at: current.path, item: current.item, for: purpose,
            mayRefuse: current.path.map { finder.mayRefuse($0, as: peer.principal) } ?? true,
            accommodatesSubitems: request.accommodatesSubitems ?? false, of: connection, asOf: moves)
        return switch registration {
        case .done(let presenter):
            .done(Presented(presenter: presenter, purpose: purpose, sequence: sequence, item: item))
        case .outdated: .outdated
        case .unknown: .unknown
        }
    }

    private func presentable(_ path: Path, _ peer: Peer) throws -> (path: TreePath, item: ItemID?) {
        let place = try finder.claimable(tree(path), .reading(.withoutChanges), as: peer.principal)
        return (place.path, place.item)
    }

    /// The place of a presenter's item after all changes up to `last`.
    private func follow(_ item: PresentedItem, from sequence: UInt64, to last: UInt64) throws -> PresentedItem {
        var (item, sequence) = (item, sequence)
        let packages = finder.coordinator.packages
        while sequence < last {
            let page = try finder.history.told(after: sequence, limit: Self.rowsAtOnce)
            guard page.last > sequence else { break }
            for (_, change) in page.changes { _ = item.hears(change, packages) }
            sequence = page.last
        }
        return item
    }

    private static let rowsAtOnce = 1_000

    func place(
        _ request: PlacePresenterRequest, of connection: ConnectionID, peer: Peer
    ) throws(ControlError) -> (path: TreePath?, item: ItemID?) {
        try answering {
            let placed: (TreePath?, ItemID?)? = try lookingUp { moves in
                let place = try request.path.map { try presentable($0, peer) }
                let registration = finder.coordinator.place(
                    PresenterID(request.presenter), at: place?.path, item: place?.item, of: connection, asOf: moves)
                return switch registration {
                case .done: .done((place?.path, place?.item))
                case .outdated: .outdated
                case .unknown: .unknown
                }
            }
            guard let placed else {
                throw ControlError(.notFound, "no presenter \(request.presenter) of this connection")
            }
            return placed
        }
    }

    func changes(
        after sequence: UInt64, limit: Int, for item: PresentedItem, peer: Peer
    ) throws(ControlError) -> PresentedPage {
        try answering {
            let read = try self.told(after: sequence, limit: limit)
            var known = KnownDirectories()
            let packages = finder.coordinator.packages
            var page = PresentedPage(changes: [], upTo: read.last, item: item)
            var told: [Change] = []
            for (number, change) in read.changes {
                let before = page.item.path
                guard let relation = page.item.hears(change, packages), let before, let place = page.item.path,
                    finder.mayKnow(change, as: peer.principal, &known)
                        || relation == .item
                            && finder.mayKnow(change, ofItemAt: before, then: place, as: peer.principal)
                else { continue }
                page.changes.append(PresentedChange(
                    event: WatchEvent(sequence: number, change), relation: PresentedChange.Relation(relation),
                    place: Path(place)))
                told.append(change)
            }
            finder.awaitSight(of: told)
            return page
        }
    }

    func withdraw(_ presenter: PresenterID, of connection: ConnectionID) -> Bool {
        finder.coordinator.withdraw(presenter, of: connection)
    }

    func answer(_ question: QuestionID, _ answer: Answer, of connection: ConnectionID) {
        finder.coordinator.answer(question, answer, of: connection)
    }

    func mayAsk(_ question: Question, of presenter: PresenterID, peer: Peer) -> Bool {
        finder.mayBeAsked(question, at: finder.coordinator.path(of: presenter), as: peer.principal)
    }

    func mayRefuse(_ question: Question, of presenter: PresenterID, peer: Peer) -> Bool {
        finder.mayRefuse(question, at: finder.coordinator.path(of: presenter), as: peer.principal)
    }

    func disturbance(of claim: ClaimID, at path: TreePath, peer: Peer) -> (mayKnow: Bool, mayHold: Bool) {
        let accesses = finder.coordinator.accesses(of: claim)
        return (
            accesses.contains { $0.path == path } || finder.mayKnowName(path, as: peer.principal),
            finder.mayHold(accesses, as: peer.principal)
        )
    }

    func alive(_ connection: ConnectionID) { finder.coordinator.alive(connection) }

    func presenters(_ request: PresentersRequest, _ call: ControlCall) throws(ControlError) -> [PresenterInfo] {
        finder.presenters(as: call.principal).map { presenter, party, isRevoked in
            PresenterInfo(
                id: "\(presenter.id)", path: presenter.path.map { Path($0) }, pid: party.process,
                program: party.program, silent: isRevoked)
        }
    }
}

extension PresentedChange.Relation {
    init(_ relation: PresentedRelation) {
        self =
            switch relation {
            case .item: .item
            case .inPackage: .inPackage
            case .inDirectory: .inDirectory
            }
    }
}
