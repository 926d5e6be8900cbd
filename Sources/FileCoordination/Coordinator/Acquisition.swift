// Claims on the items of one access, from being asked for until they are all granted.

import ControlProtocol
import Foundation
import Synchronization
import VersionsClient

/// One read or write that a caller wants.
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

    /// Whether a name is meant, and not what has it.
    var isReplacing: Bool { if case .writing(let options) = mode { options.contains(.forReplacing) } else { false } }

    /// Whether its content is to be a snapshot.
    var isForUploading: Bool { if case .reading(let options) = mode { options.contains(.forUploading) } else { false } }

    /// Whether a symbolic link stands for what it leads to.
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

/// Whom an access is made for.
struct Claimant: Sendable {
    /// 32 hex digits.
    var purpose: String
    var links: [PresenterLink] = []

    func presenter(with arbitration: any Arbitration) -> UInt64? {
        links.lazy.compactMap { $0.number(with: arbitration) }.first
    }

    /// Where something is that is named by where the presenter's item was.
    func place(of url: URL) -> URL { links.lazy.map { $0.place(of: url) }.first { $0 != url } ?? url }
}

/// What was granted; to be released once.
struct Granted: Sendable {
    fileprivate(set) var claims: [(arbitration: any Arbitration, claim: UInt64)] = []
    /// Where the items are now, in the order in which they were wanted.
    fileprivate(set) var urls: [URL] = []

    /// What is done while it lasts.
    func context(_ context: CoordinationContext = .current) -> CoordinationContext {
        claims.reduce(context) { $0.holding($1.claim, of: $1.arbitration.arbiter) }
    }

    func release() {
        for (arbitration, claim) in claims.reversed() { arbitration.release(claim) }
    }
}

/// Asks for the claims of one access, one arbiter after the other: with each all items are granted together. Thread-safe;
/// started once.
final class Acquisition: Sendable {
    /// The items of one arbiter.
    private struct Part: Sendable {
        var arbitration: any Arbitration
        var accesses: [AccessRequest] = []
        /// Which of the wanted ones they are.
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
    /// Guards alone which claim is waited for.
    private let state = Mutex(State())

    /// Finds who coordinates the items. May look at the file system, and connect.
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
                wanted[index].url = place.arbitration.url(of: place.path, isDirectory: item.url.hasDirectoryPath) ?? item.url
            }
            let known = parts.firstIndex { $0.arbitration === place.arbitration }
            let part = known ?? parts.count
            if known == nil { parts.append(Part(arbitration: place.arbitration)) }
            parts[part].accesses.append(item.request(place.path))
            parts[part].indices.append(index)
        }
        // In the same order for everybody: who waits for the second has the first.
        self.parts = parts.sorted { $0.arbitration.rank < $1.arbitration.rank }
        self.wanted = wanted
        self.claimant = claimant
        self.isPreparation = isPreparation
        self.heldUp = heldUp
    }

    /// Asks for them.
    /// - Parameters:
    ///   - context: what whoever waits for them does meanwhile.
    ///   - then: called once, on whatever thread; what was granted is to be released.
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

    /// Gives up waiting; what is granted all the same comes to whoever waits.
    func cancel() {
        let pending = state.withLock { state in
            state.isCancelled = true
            return state.pending
        }
        pending?.cancel()
    }
}
