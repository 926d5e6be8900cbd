// The daemon of a container as the arbiter of its items.

import ControlProtocol
import Foundation
import Synchronization
import VersionModel
import VersionsClient

/// One connection to a daemon, for all coordinators and presenters of this process in its container.
final class ContainerArbitration: Arbitration {
    let client: VersionsClient
    /// The mount point of the container.
    let root: Path
    /// The prefix of the container's paths that a bind mount of one of its directories hides.
    private let hidden: [UInt8]
    /// The mount's device number.
    let device: UInt
    /// Guards the presenters alone.
    private let presentations = Mutex<[UInt64: Presentation]>([:])

    init(_ client: VersionsClient, root: Path, hidden: [UInt8], device: UInt) {
        self.client = client
        self.root = root
        self.hidden = hidden
        self.device = device
    }

    var arbiter: CoordinationContext.Arbiter { client.arbiter }
    var rank: String { client.daemon.container.hex + root.description }

    /// The daemon's path for a path at or below the root.
    func path(of absolute: Path) -> Path {
        let below = absolute.bytes.dropFirst(root.bytes.count).drop { $0 == 47 }
        return Path(bytes: [hidden, Array(below)].filter { !$0.isEmpty }.joined(separator: [47]))
    }

    func url(of path: Path, isDirectory: Bool) -> URL? {
        var below = path.bytes[...]
        if !hidden.isEmpty {
            guard path.bytes == hidden || path.bytes.starts(with: hidden + [47]) else { return nil }
            below = below.dropFirst(hidden.count + 1)
        }
        let separator: [UInt8] = below.isEmpty || root.bytes == [47] ? [] : [47]
        return URL(absolute: Path(bytes: root.bytes + separator + below), isDirectory)
    }

    func claim(_ wanted: ClaimWanted) -> any PendingClaim {
        Pending(client: client, ticket: client.newTicket(heldUp: wanted.heldUp), wanted: wanted)
    }

    private struct Pending: PendingClaim {
        let client: VersionsClient
        let ticket: ClaimTicket
        let wanted: ClaimWanted

        func start(then: @escaping @Sendable (Result<ClaimRequest.Reply, ControlError>) -> Void) {
            client.claim(
                    wanted.accesses, ticket, for: wanted.presenter, purpose: wanted.purpose,
                    preparing: wanted.isPreparation,
                in: wanted.context, then: then)
        }

        func cancel() { ticket.cancel() }
    }

    func release(_ claim: UInt64) { client.release(claim) }

    func present(_ wanted: PresenterWanted, then: @escaping @Sendable (Result<KnownPresenter, ControlError>) -> Void) {
        client.present(
            wanted.path, accommodatesSubitems: true, after: wanted.after, purpose: wanted.purpose, inbox: wanted.inbox
        ) { result in
            if case .success(let presentation) = result {
                self.presentations.withLock { $0[presentation.id] = presentation }
            }
            then(result.map { KnownPresenter(number: $0.id, sequence: $0.sequence) })
        }
    }

    func place(_ presenter: UInt64, at path: Path?, then: @escaping @Sendable () -> Void) {
        guard let presentation = presentations.withLock({ $0[presenter] }) else { return then() }
        presentation.move(to: path) { _ in then() }
    }

    func withdraw(_ presenter: UInt64) {
        presentations.withLock { $0.removeValue(forKey: presenter) }?.withdrawAndGoOn()
    }

    /// The daemon sees every rename itself.
    func moved(_ old: Path, to new: Path, by purpose: String) {}
}

extension URL {
    /// The URL of an absolute path by its bytes. A URL cannot express bytes that are not UTF-8.
    init(absolute path: Path, _ isDirectory: Bool) {
        self = path.withCString {
            URL(fileURLWithFileSystemRepresentation: $0, isDirectory: isDirectory, relativeTo: nil)
        }
    }
}
