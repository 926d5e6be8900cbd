// Claims of clients: their targets are looked up with the client's rights and passed to the coordinator.

import Container
import ControlProtocol
import ControlService
import Coordination
import VersionModel
import VersionStore

extension ContainerBackend: CoordinationBackend {
    /// The limit for one claim: each of its accesses is compared with all other claims' accesses.
    private static let accessCount = 256

    func takePart(_ client: any CoordinationClient, peer: Peer) -> ConnectionID {
        finder.takePart(client, as: peer.principal)
    }

    func leave(_ connection: ConnectionID) { finder.coordinator.disconnect(connection) }

    func newClaim() -> ClaimID { finder.coordinator.newClaim() }

    func claim(
        _ request: ClaimRequest, as id: ClaimID, for purpose: Purpose, of connection: ConnectionID, peer: Peer
    ) throws(ControlError) {
        try answering {
            guard request.accesses.count <= Self.accessCount else {
                throw ControlError(.invalidParameters, "accesses: at most \(Self.accessCount) in one claim")
            }
            guard !request.accesses.isEmpty else {
                throw ControlError(.invalidParameters, "accesses: a claim needs at least one")
            }
            finder.enrollWriters()
            try lookingUp { moves in
                let accesses = try request.accesses.map { access in
                    let kind = try AccessKind(access)
                    let place = try finder.claimable(tree(access.path), kind, as: peer.principal)
                    return Access(path: place.path, item: place.item, kind: kind, isOfFreeName: place.isFree)
                }
                let claim = Claim(
                    id: id, connection: connection, accesses: accesses, purpose: purpose,
                    presenter: request.presenter.map { PresenterID($0) },
                    within: Set((request.within ?? []).map { ClaimID($0) }),
                    handling: request.handling.map { PresenterID($0) }, isPreparation: request.preparing ?? false)
                return finder.coordinator.claim(claim, asOf: moves) ? .done(()) : .outdated
            }
        }
    }

    /// Looks an item up and registers it there, and repeats this if a name was moved in between: moves update
    /// registered places, but not a place that was only looked up.
    /// - Parameter body: gets the number of moves so far, or nil for a registration that ignores moves.
    /// - Returns: nil if the owner of the registration is unknown.
    @discardableResult
    func lookingUp<Registered>(
        _ body: (UInt64?) throws -> Coordinator.Registration<Registered>
    ) throws -> Registered? {
        for _ in 0..<Self.lookupCount {
            switch try body(finder.coordinator.moves) {
            case .done(let registered): return registered
            case .outdated: continue
            case .unknown: return nil
            }
        }
        guard case .done(let registered) = try body(nil) else { return nil }
        return registered
    }

    /// A limit, because a program may rename without end.
    private static let lookupCount = 100

    func release(_ claim: ClaimID, of connection: ConnectionID) -> Bool {
        finder.coordinator.release(claim, of: connection)
    }

    func cancel(_ claim: ClaimID, of connection: ConnectionID) { finder.coordinator.cancel(claim, of: connection) }

    /// The claims of clients on items that the caller can reach, and the claims of plain programs that wait for one or
    /// hold one up.
    /// - Parameter opens: claims of plain programs among themselves, which are listed as well.
    func coordinated(_ call: ControlCall, beside opens: [ClaimRecord]) -> [ClaimInfo] {
        let (now, wall) = container.moment
        return finder.coordinatedClaims(as: call.principal).compactMap { entry in
            let claim = entry.listed.claim
            // An open that holds up claims of both kinds is listed as one claim.
            let isListed = claim.isPlain && !entry.listed.isWaiting && opens.contains { open in
                open.author.process == entry.party.process && open.path == claim.accesses.first?.path
            }
            if isListed { return nil }
            let words = claim.accesses.map(\.kind.words)
            return ClaimInfo(
                id: "\(claim.id)", paths: claim.accesses.map { Path($0.path) },
                kind: words.contains { $0.kind == "write" } ? "write" : "read",
                options: Set(words.flatMap(\.options)).sorted() + (claim.isPreparation ? ["preparing"] : []),
                pid: entry.party.process, program: entry.party.program,
                since: wall.advanced(byNanoseconds: entry.listed.since - now), waiting: entry.listed.isWaiting)
        }
    }
}

extension AccessKind {
    /// Reads a client's request.
    init(_ request: AccessRequest) throws(ControlError) {
        switch request.mode {
        case .reading:
            var options: ReadingOptions = []
            for word in request.options {
                guard let option = Self.readingOptions[word] else {
                    throw ControlError(.invalidParameters, "no option \(word) of a read")
                }
                options.insert(option)
            }
            self = .reading(options)
        case .writing:
            guard request.options.count <= 1 else {
                throw ControlError(.invalidParameters, "a write has one option at most")
            }
            guard let word = request.options.first else {
                self = .writing(.updating)
                return
            }
            guard let option = WritingOption(rawValue: word), option != .updating else {
                throw ControlError(.invalidParameters, "no option \(word) of a write")
            }
            self = .writing(option)
        }
    }

    private static let readingOptions: [String: ReadingOptions] = [
        "withoutChanges": .withoutChanges, "resolvesSymbolicLink": .resolvesSymbolicLink,
        "immediatelyAvailableMetadataOnly": .immediatelyAvailableMetadataOnly, "forUploading": .forUploading,
    ]

    /// `read` or `write`, and the words for the options.
    var words: (kind: String, options: [String]) {
        switch self {
        case .writing(let option): ("write", option == .updating ? [] : [option.rawValue])
        case .reading(let options):
            ("read", Self.readingOptions.filter { options.contains($0.value) }.keys.sorted())
        }
    }
}
