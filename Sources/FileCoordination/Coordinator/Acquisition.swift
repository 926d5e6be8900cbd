// The claims on the items of one access, from the request until all are granted.

import ControlProtocol
import Foundation
import Synchronization
import VersionsClient

/// One requested read or write.
struct Wanted: Sendable {
    enum Mode: Sendable {
        case reading(NSFileCoordinator.ReadingOptions)
        case writing(NSFileCoordinator.WritingOptions)
    }

    var url: URL
    var mode: Mode

    static func reading(_ url: URL, _ options: NSFileCoordinator.ReadingOptions) -> Wanted {
        Wanted(url: url, mode: .reading(options))
    }

    static func writing(_ url: URL, _ options: NSFileCoordinator.WritingOptions) -> Wanted {
        Wanted(url: url, mode: .writing(options))
    }

    var isWriting: Bool { if case .writing = mode { true } else { false } }

    /// Whether the access is to a name, whatever item has it.
    var isReplacing: Bool { if case .writing(let options) = mode { options.contains(.forReplacing) } else { false } }

    /// Whether the reader gets a snapshot of the content.
    var isForUploading: Bool { if case .reading(let options) = mode { options.contains(.forUploading) } else { false } }

    /// Whether a symbolic link stands for its target.
    var resolvesLink: Bool {
        if case .reading(let options) = mode { options.contains(.resolvesSymbolicLink) } else { false }
    }

    func request(_ path: Path) -> AccessRequest {
        switch mode {
        case .reading(let options): AccessRequest(.reading, path, options: options.names)
        case .writing(let options): AccessRequest(.writing, path, options: options.names)
        }
    }
}

/// The claimant of an access.
struct Claimant: Sendable {
    /// 32 hex digits.
    var purpose: String
    var links: [PresenterLink] = []

    func presenter(with arbitration: any Arbitration) -> UInt64? {
        // Not lazily: that asks twice, and a presenter may be gone by the second time.
        links.compactMap { $0.number(with: arbitration) }.first
    }

    /// The present place of an item that a URL names by the former place of the presenter's item.
    func place(of url: URL) -> URL { links.lazy.map { $0.place(of: url) }.first { $0 != url } ?? url }
}

/// Granted claims, released once.
struct Granted: Sendable {
    fileprivate(set) var claims: [(arbitration: any Arbitration, claim: UInt64)] = []
    /// The present places of the items, in the order of the request.
    fileprivate(set) var urls: [URL] = []

    /// The context of the work under these claims.
    func context(_ context: CoordinationContext = .current) -> CoordinationContext {
        claims.reduce(context) { $0.holding($1.claim, of: $1.arbitration.arbiter) }
    }

    func release() {
        for (arbitration, claim) in claims.reversed() { arbitration.release(claim) }
    }
}

/// Requests the claims of one access, one arbiter after the other; each arbiter grants all its items together.
/// Thread-safe; started once.
final class Acquisition: Sendable {
    /// The items of one arbiter.
    private struct Part: Sendable {
        var arbitration: any Arbitration
        var accesses: [AccessRequest] = []
        /// The indices of these items in the request.
        var indices: [Int] = []
    }

    private struct State {
        var pending: (any PendingClaim)?
        var isCancelled = false
    }

    typealias Completion = @Sendable (Result<Granted, ControlError>) -> Void

    private let parts: [Part]
    private let wanted: [Wanted]
    private let claimant: Claimant
    private let isPreparation: Bool
    private let heldUp: (@Sendable (HeldUpNotification) -> Void)?
    /// Guards only the current claim.
    private let state = Mutex(State())

    /// Finds the arbiters of the items. May read the file system and make a connection.
    init(
        _ wanted: [Wanted], for claimant: Claimant, isPreparation: Bool = false,
        heldUp: (@Sendable (HeldUpNotification) -> Void)? = nil
    ) throws(ControlError) {
        var wanted = wanted
        var parts: [Part] = []
        for index in wanted.indices {
            let item = wanted[index]
            if case .writing(let options) = item.mode, options.names.count > 1 {
                throw ControlError(.invalidValue, "two ways of writing at once", path: Path(item.url.path))
            }
            let place = try Places.locate(item.url, followingLastLink: item.resolvesLink)
            if item.resolvesLink {
                wanted[index].url =
                    place.arbitration.url(of: place.path, isDirectory: item.url.hasDirectoryPath) ?? item.url
            }
            let known = parts.firstIndex { $0.arbitration === place.arbitration }
            let part = known ?? parts.count
            if known == nil { parts.append(Part(arbitration: place.arbitration)) }
            parts[part].accesses.append(item.request(place.path))
            parts[part].indices.append(index)
        }
        // The same order for every caller: a caller that waits for the second arbiter has the claims of the first.
        self.parts = parts.sorted { $0.arbitration.rank < $1.arbitration.rank }
        self.wanted = wanted
        self.claimant = claimant
        self.isPreparation = isPreparation
        self.heldUp = heldUp
    }

    /// Requests the claims.
    /// - Parameters:
    ///   - context: the context of the caller's work while it waits.
    ///   - then: called once, on any thread; the caller must release the granted claims.
    func start(in context: CoordinationContext, then: @escaping Completion) {
        next(Granted(urls: wanted.map(\.url)), 0, context, then)
    }

    private func next(_ granted: Granted, _ index: Int, _ context: CoordinationContext, _ then: @escaping Completion) {
        guard index < parts.count else { return then(.success(granted)) }
        let part = parts[index]
        let pending = part.arbitration.claim(ClaimWanted(
            accesses: part.accesses, purpose: claimant.purpose, presenter: claimant.presenter(with: part.arbitration),
            isPreparation: isPreparation, context: context, heldUp: heldUp))
        let isCancelled = state.withLock { state in
            state.pending = pending
            return state.isCancelled
        }
        if isCancelled { pending.cancel() }
        pending.start { result in
            self.state.withLock { $0.pending = nil }
            switch result {
            case .failure(let error):
                granted.release()
                then(.failure(error))
            case .success(let reply):
                self.next(self.adding(reply, part, granted), index + 1, granted.context(context), then)
            }
        }
    }

    private func adding(_ reply: ClaimRequest.Reply, _ part: Part, _ granted: Granted) -> Granted {
        var granted = granted
        granted.claims.append((part.arbitration, reply.claim))
        for (path, (index, access)) in zip(reply.paths, zip(part.indices, part.accesses)) where path != access.path {
            let url = part.arbitration.url(of: path, isDirectory: wanted[index].url.hasDirectoryPath)
            if let url { granted.urls[index] = url }
        }
        return granted
    }

    /// Stops waiting. Claims that are granted anyway still go to `then`.
    func cancel() {
        let pending = state.withLock { state in
            state.isCancelled = true
            return state.pending
        }
        pending?.cancel()
    }
}
