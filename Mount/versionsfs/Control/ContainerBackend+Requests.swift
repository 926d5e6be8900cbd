// Requests about documents: read, resolve, restore, keep, purge.

import Container
import ControlProtocol
import ControlService
import Coordination
import SystemPackage
import VersionModel
import VersionStore

extension ContainerBackend {
    // MARK: Reading

    func conflicts(_ request: ConflictsRequest, _ call: ControlCall) throws(ControlError) -> [ConflictedDocument] {
        try answering {
            try finder.conflicted(within: path(request.target, call), as: call.principal).compactMap {
                conflicted($0, call)
            }
        }
    }

    func history(_ request: HistoryRequest, _ call: ControlCall) throws(ControlError) -> DocumentHistory {
        try answering {
            let all = try document(request.target, call)
            let document = readable(all, call)
            guard all.versions.isEmpty || !document.versions.isEmpty else {
                throw OperationError(.denied, "permission denied", path: document.path)
            }
            return DocumentHistory(
                path: Path(document.path), versions: infos(document.versions, of: document))
        }
    }

    func show(_ request: ShowRequest, _ call: ControlCall) throws(ControlError) -> VersionInfo {
        try answering {
            let (version, document) = try version(request.target, request.version, call)
            guard finder.mayRead(version, of: document, as: call.principal) else {
                throw OperationError(.denied, "permission denied", path: document.path)
            }
            if request.content ?? false { _ = try finder.content(of: version, in: document) }
            return info(version, of: document)
        }
    }

    /// The version for a target and an optional version name; the current one without a name.
    private func version(
        _ target: Target, _ name: VersionName?, _ call: ControlCall
    ) throws -> (Version, DocumentRecord) {
        let named: Version?
        let document: DocumentRecord
        switch try subject(target, call) {
        case .version(let version, let found): (named, document) = (version, found)
        default: (named, document) = (nil, try self.document(target, call))
        }
        if let name { return (try version(name, of: document, call), document) }
        guard let version = named ?? document.current else {
            throw OperationError(.notFound, "no saved version yet", path: document.path)
        }
        return (version, document)
    }

    func deleted(_ request: DeletedRequest, _ call: ControlCall) throws(ControlError) -> [DeletedEntry] {
        try answering {
            try finder.deleted(within: path(request.target, call), as: call.principal).map { DeletedEntry($0) }
        }
    }

    func space(_ request: SpaceRequest, _ call: ControlCall) throws(ControlError) -> SpaceUse {
        try answering {
            let place = try path(request.target, call)
            if place == .root { try container.state.rescanSpace(onlyIfUnknown: true) }
            let space = try container.space(within: place, limit: nil, as: call.principal) { entries in
                try call.checkCancellation()
                call.report(done: UInt64(entries), of: nil, unit: "entries")
            }
            return SpaceUse(live: space.live, history: space.history, deleted: space.deleted)
        }
    }

    // MARK: Resolving

    func resolve(_ request: ResolveRequest, _ call: ControlCall) throws(ControlError) -> Resolution {
        try changing {
            let document = try document(request.target, call)
            let choice: ResolutionChoice =
                switch request.keep {
                case .current: .current
                case .all: .all
                case .newest: .newest
                case .merged: .merged
                case .version(let digits): .version(try version(VersionName(digits), of: document, call).id)
                }
            return try inTurn(at: document.path, item: document.item, call) {
                resolution(try operations.resolve(document, choice, seen: request.seen, as: call.principal))
            }
        }
    }

    func resolveAll(_ request: ResolveAllRequest, _ call: ControlCall) throws(ControlError) -> [Resolution] {
        try changing {
            try operations.resolveAll(within: path(request.target, call), as: call.principal) { done, total in
                try call.checkCancellation()
                call.report(done: UInt64(done), of: UInt64(total), unit: "documents")
            }.map { resolution($0) }
        }
    }

    private func resolution(_ outcome: ResolutionOutcome) -> Resolution {
        Resolution(
            document: Path(outcome.path), current: outcome.current, resolved: outcome.resolved,
            written: outcome.written.map { Path($0) }, remaining: outcome.remaining)
    }

    func simulateConflict(
        _ request: SimulateConflictRequest, _ call: ControlCall
    ) throws(ControlError) -> ConflictedDocument {
        try changing {
            let made = try operations.simulateConflict(document(request.target, call), as: call.principal)
            guard let result = conflicted(made, call) else { throw ControlError(.failed, "it made no conflict") }
            return result
        }
    }

    // MARK: Restoring

    func restore(_ request: RestoreRequest, _ call: ControlCall) throws(ControlError) -> Restored {
        try changing {
            let (version, document) = try restorable(request, call)
            let target = try request.to.map { try newPlace($0) }
            return try inTurn(at: target ?? document.path, item: target == nil ? document.item : nil, call) {
                let outcome = try operations.restore(version, of: document, to: target, as: call.principal)
                var answer = restored(outcome)
                answer.version = info(version, of: document)
                return answer
            }
        }
    }

    /// The version to restore: without a name the target's version, else the previous one.
    private func restorable(_ request: RestoreRequest, _ call: ControlCall) throws -> (Version, DocumentRecord) {
        if request.version == nil, case .version(let version, let document) = try subject(request.target, call) {
            return (version, document)
        }
        return try version(request.target, request.version ?? .previous, call)
    }

    /// The path for a restored item.
    private func newPlace(_ path: Path) throws -> TreePath {
        let tree = try tree(path)
        try tree.requireUsable()
        return tree
    }

    /// Makes a change in turn with coordinated accesses to the same place.
    private func inTurn<Result>(
        at path: TreePath, item: ItemID? = nil, as option: WritingOption = .updating, _ call: ControlCall,
        _ body: () throws -> Result
    ) throws -> Result {
        try finder.inTurn(with: Access(path: path, item: item, kind: .writing(option)), as: call.principal, body)
    }

    func undelete(_ request: UndeleteRequest, _ call: ControlCall) throws(ControlError) -> Restored {
        try changing {
            let target = try request.to.map { try newPlace($0) }
            let what = try undeletable(request.target, elsewhere: target != nil, call)
            var total: UInt64?
            return try inTurn(at: target ?? operations.home(of: what), call) {
                restored(
                    try operations.undelete(
                        what, to: target, as: call.principal,
                        report: { done in
                            try call.checkCancellation()
                            call.report(done: UInt64(done), of: total, unit: "entries")
                        }, expecting: { total = UInt64($0) }))
            }
        }
    }

    private func undeletable(
        _ target: Target, elsewhere: Bool, _ call: ControlCall
    ) throws -> Undeletable {
        switch target {
        case .id(let digits):
            do {
                switch try subject(target, call) {
                case .deletion(let found): return .entry(found)
                case .document(let document), .version(_, let document):
                    guard let found = document.deletion else {
                        throw OperationError(.nothingToDo, "it is not deleted", path: document.path)
                    }
                    return .entry(found)
                }
            } catch let error as OperationError where error.kind == .notFound {
                guard let begun = try operations.unfinishedUndelete(digits) else { throw error }
                return .unfinished(begun)
            }
        case .path(let path):
            let path = try tree(path)
            if path.names.contains(where: { $0 == FileName(".versions") }),
                case .deletion(let found) = try subject(target, call)
            {
                return .entry(found)
            }
            return try operations.undeletable(at: path, elsewhere: elsewhere, as: call.principal)
        }
    }

    func restored(_ outcome: RestoreOutcome) -> Restored {
        Restored(
            document: Path(outcome.path), entries: outcome.entries, directories: outcome.directories,
            displaced: outcome.displaced, remaining: outcome.remaining,
            problems: outcome.problems.map { problem in
                Restored.Problem(path: Path(problem.path), problem: problem.problem.message)
            })
    }

    func restoreDirectory(_ request: RestoreDirectoryRequest, _ call: ControlCall) throws(ControlError) -> Restored {
        try changing {
            let target = try request.to.map { try newPlace($0) }
            let place = try path(request.target, call)
            let time = try moment(request.at, before: request.before, in: place, call)
            // A restoration in place moves all entries of the directory with it.
            return try inTurn(at: target ?? place, as: target == nil ? .forMoving : .updating, call) {
                restored(
                    try operations.restoreDirectory(place, at: time, to: target, as: call.principal) { done in
                        try call.checkCancellation()
                        call.report(done: UInt64(done), of: nil, unit: "entries")
                    })
            }
        }
    }

    // MARK: Keeping and purging

    func pin(_ request: PinRequest, _ call: ControlCall) throws(ControlError) -> VersionInfo {
        try changing {
            let (version, document) = try version(request.target, request.version, call)
            return info(
                try operations.pin(version, of: document, request.pinned, as: call.principal), of: document)
        }
    }

    func addVersion(_ request: AddVersionRequest, _ call: ControlCall) throws(ControlError) -> VersionInfo {
        try changing {
            let document = try document(request.target, call)
            let added = try operations.addVersion(from: tree(request.contents), to: document, as: call.principal)
            return info(added, of: document)
        }
    }

    func thin(_ request: ThinRequest, _ call: ControlCall) throws(ControlError) -> Removed {
        try answering {
            removed(
                try container.thin(dryRun: request.dryRun, as: call.principal) { done, total in
                    try call.checkCancellation()
                    call.report(done: UInt64(done), of: UInt64(total), unit: "versions")
                })
        }
    }

    // MARK: The container itself

    func check(_ request: CheckRequest, _ call: ControlCall) throws(ControlError) -> CheckReport {
        try answering {
            guard finder.knowsAll(call.principal) else {
                throw OperationError(.denied, "only root and the container's user may check it")
            }
            var contents = 0
            if request.repair, container.options.isReadOnly {
                throw ControlError(.denied, "the container is mounted read-only", advice: "mount it without -o ro")
            }
            let findings = try container.check(
                repair: request.repair, isAtRest: surroundings.mountpoint == nil
            ) { done, total in
                contents = total
                call.report(done: UInt64(done), of: UInt64(total), unit: "versions")
            }
            return CheckReport(
                findings: findings.map { finding in
                    CheckReport.Finding(
                        kind: finding.kind.rawValue, subject: finding.subject, problem: finding.text,
                        document: finding.path.map { Path($0) },
                        repair: finding.repair, repaired: finding.isRepaired)
                }, contents: contents, bytes: UInt64(max(0, container.state.space.history)))
        }
    }

    func config(_ request: ConfigRequest, _ call: ControlCall) throws(ControlError) -> [Setting] {
        try answeringAboutSettings {
            let all = try CheckedSettings(in: container.state.directory).entries()
            guard let key = request.key else { return all }
            guard let found = all.first(where: { $0.key == key }) else {
                throw OperationError(.invalid, "no setting \(key)", advice: "`versionsctl config` lists the settings")
            }
            return [found]
        }
    }

    func setConfig(_ request: SetConfigRequest, _ call: ControlCall) throws(ControlError) -> Setting {
        try changing {
            guard finder.knowsAll(call.principal) else {
                throw OperationError(.denied, "only root and the container's user may change settings")
            }
            return try answeringAboutSettings {
                var settings = CheckedSettings(in: container.state.directory)
                try settings.set(request.key, to: request.value)
                operations.settings = settings.settings
                guard let set = try settings.entries().first(where: { $0.key == request.key }) else {
                    throw OperationError(.invalid, "no setting \(request.key)")
                }
                return set
            }
        }
    }

    /// The same as ``answering(_:)``; errors about the file name it.
    private func answeringAboutSettings<Result>(_ body: () throws -> Result) throws(ControlError) -> Result {
        try answering {
            do {
                return try body()
            } catch let error as CheckedSettings.Mistake {
                guard error.key.isEmpty else {
                    throw ControlError(.invalidValue, error.text, advice: "`versionsctl config` shows the settings")
                }
                let first = surroundings.mountpoint == nil ? "" : "unmount it, and "
                let advice = first + "correct the file, or remove it for the defaults"
                throw ControlError(.invalidValue, "\(surroundings.state)/\(error.text)", advice: advice)
            }
        }
    }
}
