// What clients of coordination register is at its place, also if that was moved after it was looked up.

import Coordination
import Testing
import VersionModel

@testable import Container

@Suite struct RegistrationTests: OperationTesting {
    private final class Client: CoordinationClient {
        func tell(_ message: CoordinationMessage) {}
    }

    @Test("a claim, a presenter and its place are looked up once more if a name was moved meanwhile")
    func movedMeanwhile() throws {
        let tree = try BrowsedContainer()
        let coordinator = tree.container.coordinator
        let connection = tree.container.takePart(Client(), as: my)
        try tree.makeDirectory("old")
        func register(asOf moves: UInt64, _ name: String) throws -> (presenter: PresenterID?, isClaimed: Bool) {
            let place = try tree.container.finder.claimable(path(name), .reading([]), as: my)
            // Only what was known before the move is too old.
            if name == "old" { try tree.move("old", to: "new") }
            let registered = coordinator.present(
                at: place.path, item: place.item, for: .random(), mayRefuse: true, accommodatesSubitems: false,
                of: connection, asOf: moves)
            let claim = Claim(
                id: coordinator.newClaim(), connection: connection,
                accesses: [Access(path: place.path, item: place.item, kind: .reading([]))], purpose: .random())
            let isClaimed = coordinator.claim(claim, asOf: moves)
            guard case .done(let presenter) = registered else { return (nil, isClaimed) }
            return (presenter, isClaimed)
        }
        let outdated = try register(asOf: coordinator.moves, "old")
        #expect(
            outdated.presenter == nil && !outdated.isClaimed && coordinator.presenters.isEmpty
                && coordinator.claims.isEmpty)
        let known = coordinator.moves
        let presenter = try #require(try register(asOf: known, "new").presenter)
        #expect(coordinator.claims.count == 1)
        try tree.move("new", to: "newest")
        #expect(coordinator.presenters.map(\.presenter.path) == [try path("newest")])
        guard case .outdated = coordinator.place(presenter, at: try path("new"), item: nil, of: connection, asOf: known)
        else {
            Issue.record("placed where it is no more")
            return
        }
        coordinator.disconnect(connection)
    }
}
