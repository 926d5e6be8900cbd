// The control socket's backend: each request is an operation of the live container, with the caller's own rights.

import Container
import ControlProtocol
import ControlService
import SystemPackage
import VersionModel
import VersionStore

/// Answers the control socket's requests for an open container.
final class ContainerBackend: ControlBackend {
    /// Facts that the mount knows and the container does not.
    struct Surroundings: Sendable {
        /// Absolute; nil when the container is served unmounted.
        var mountpoint: Path?
        /// The daemon's version.
        var version: String
        /// `journal`, `stderr`, `syslog`, or a path.
        var log: String
        /// Called for each answer: the transport's negotiated features.
        var transport: @Sendable () -> ContainerStatus.Transport
        /// Removes the state for good; returns sentences about entries that stay. Nil while the container is mounted.
        var forget: (@Sendable (_ report: @escaping (_ entries: Int) -> Void) throws -> [String])?
        /// Sentences for `status`.
        var notes: @Sendable () -> [String] = { [] }
        /// The container's file system, and those mounted below it.
        var fileSystems: @Sendable () -> [ContainerStatus.FileSystem] = { [] }
        /// The state directory, absolute. A mount over it hides it from every program.
        var state = Path(".versionsfs")
    }

    let container: any ServedContainer
    let finder: Finder
    let operations: any OperatedContainer
    let surroundings: Surroundings

    init(_ container: any ServedContainer, _ surroundings: Surroundings) {
        self.container = container
        (finder, operations) = (container.finder, container.operations)
        self.surroundings = surroundings
    }

    func hello(_ request: Handshake, _ call: ControlCall) throws(ControlError) -> Handshake.Reply {
        guard request.protocolVersion == Handshake.protocolVersion else {
            throw ControlError(
                .incompatible, "\(request.program) \(request.version) speaks another protocol than this daemon",
                advice: "use the tool and the daemon of one release")
        }
        return Handshake.Reply(
            version: surroundings.version, container: container.state.identity.container,
            mountpoint: surroundings.mountpoint)
    }

    func status(_ request: StatusRequest, _ call: ControlCall) throws(ControlError) -> ContainerStatus {
        try answering {
            let counts = try container.counts()
            // No client waits for an unmounted container, and `forget` needs exact numbers for its question. A mounted
            // container counts in the background, unless it is read-only.
            if surroundings.mountpoint == nil || container.options.isReadOnly {
                try container.state.rescanSpace(onlyIfUnknown: true)
            }
            // Half a second: programs call status often, and a walk over a big tree takes long.
            let space = try container.space(within: .root, limit: 500_000_000, as: Principal(user: 0)) { _ in }
            var notes = surroundings.notes()
            if !space.isComplete {
                notes.append("live files were counted for half a second only; `versionsctl space` counts all of them")
            }
            if !container.state.space.isComplete {
                notes.append("history and deleted files are being counted; `versionsctl space` waits for the sums")
            }
            if container.isThinningPaused {
                notes.append("the system clock jumped by more than a day: history is not thinned for now")
            }
            let about = StatusNotes(container: container, principal: call.principal)
            notes += try about.all()
            notes += container.spaceNotes
            let nested = space.nested.filter { finder.mayList($0, as: call.principal) }
            notes += nested.map { "\($0) is a container of its own, and its files have their versions there" }
            if let reason = container.writingFailure {
                notes.append("the catalog cannot be written (\(reason)): the container is read-only until then")
            } else if container.isWritingStuck {
                notes.append("the catalog cannot be written; changes wait in memory")
            }
            if container.options.isReadOnly { notes.append("mounted read-only: nothing is saved or resolved") }
            if container.state.identity.wasCopied {
                notes.append("the directory is a copy of another container and has a new device id")
            }
            return ContainerStatus(
                container: container.state.identity.container, mountpoint: surroundings.mountpoint,
                device: container.state.identity.deviceName, items: counts.items, versions: counts.versions,
                conflicts: counts.conflicts, deleted: .init(count: counts.deletions, bytes: counts.deletedBytes),
                space: SpaceUse(live: space.live, history: space.history, deleted: space.deleted),
                transport: surroundings.transport(), log: surroundings.log, version: surroundings.version,
                fileSystems: surroundings.fileSystems()
                    + nested.map { .init(path: Path($0), type: "container", can: []) },
                ignoreFile: about.ignoreFile, notes: notes)
        }
    }

    func claims(_ request: ClaimsRequest, _ call: ControlCall) throws(ControlError) -> [ClaimInfo] {
        let opens = finder.claims(as: call.principal, at: container.moment)
        return coordinated(call, beside: opens) + opens.map { claim in
            ClaimInfo(
                id: "open-\(claim.id)", paths: [Path(claim.path)], kind: "write",
                options: claim.isReplacing ? ["replacing"] : [], pid: claim.author.process,
                program: claim.author.program, since: claim.since, waiting: claim.isWaiting)
        }
    }

    func forget(_ request: ForgetRequest, _ call: ControlCall) throws(ControlError) -> ContainerStatus {
        guard let forget = surroundings.forget else {
            throw ControlError(
                .busy, "the container is mounted", path: surroundings.mountpoint,
                advice: "run `versionsctl unmount` first"
            )
        }
        var before = try status(StatusRequest(), call)
        if request.confirmed {
            before.notes = try answering { try forget { call.report(done: UInt64($0), of: nil, unit: "entries") } }
        }
        return before
    }

    // MARK: Helpers

    /// The same as ``answering(_:)``, for changes: refused if the container is mounted read-only.
    func changing<Result>(_ body: () throws -> Result) throws(ControlError) -> Result {
        guard !container.options.isReadOnly else {
            throw ControlError(.denied, "the container is mounted read-only", advice: "mount it without -o ro")
        }
        if let reason = container.writingFailure {
            throw ControlError(
                .denied, "the container is read-only: its catalog cannot be written (\(reason))",
                advice: "see df and dmesg")
        }
        return try answering(body)
    }

    /// Runs an operation; a thrown error becomes an error of the protocol.
    func answering<Result>(_ body: () throws -> Result) throws(ControlError) -> Result {
        do {
            return try body()
        } catch {
            throw Self.controlError(error)
        }
    }

    private static func controlError(_ error: any Error) -> ControlError {
        switch error {
        case let error as ControlError: return error
        case let error as OperationError:
            var result = ControlError(
                code(error.kind), error.message, path: error.path.map { Path($0) }, advice: error.advice,
                errno: error.errno?.rawValue, begins: error.begins)
            result.renamed = error.renamed.map { Path($0) }
            return result
        default: return ControlError(.failed, "\(error)")
        }
    }

    private static func code(_ kind: OperationError.Kind) -> ControlError.Code {
        switch kind {
        case .notFound: .notFound
        case .denied: .denied
        case .exists: .exists
        case .ambiguous: .ambiguous
        case .contentMissing: .contentMissing
        case .nothingToDo: .nothingToDo
        case .busy: .busy
        case .invalid: .invalidValue
        case .cancelled: .cancelled
        case .system: .system
        }
    }
}

extension ControlCall {
    /// The caller's rights.
    var principal: Principal { peer.principal }
}

extension Peer {
    var principal: Principal {
        Principal(user: userID, primaryGroup: groupID, groups: Set(groups), process: process)
    }
}
