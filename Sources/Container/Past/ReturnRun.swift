// A directory goes back in place to what it was, over the engine: the steps are made one by one.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// One return as it runs. What one name fails of is told, and the rest comes back. What is as it was is not touched, so
/// that asking again goes on where it ended, and does nothing once all is so. Used by one thread.
final class ReturnRun {
    private let plan: DirectoryReturn
    private let principal: Principal
    private(set) var outcome: RestoreOutcome
    private var times: FormerTimes
    /// What could not go where it was, and lies where it does today.
    private var refused: [TreePath] = []

    private var moment: Moment { plan.moment }
    private var live: CallersTree { moment.live }
    private var facts: FactReader { moment.facts }
    private var ground: EngineGround { moment.ground }
    private var finder: Finder { ground.finder }

    init(_ plan: DirectoryReturn, as principal: Principal) {
        (self.plan, self.principal) = (plan, principal)
        outcome = RestoreOutcome(path: plan.path, entries: 0)
        times = FormerTimes(plan.moment)
    }

    private func path(of place: Place) -> TreePath? { finder.livePath(of: place.directory)?.appending(place.name) }

    /// What one step fails of is told, unless all others would fail of it, too.
    private func trying(_ path: TreePath, _ report: OperatedContainer.Report, _ body: () throws -> Void) throws {
        try report(outcome.entries + outcome.displaced)
        do { try body() } catch {
            var error = OperationError.wrap(error)
            error.path = error.path ?? path
            if error.isHopeless { throw error }
            if outcome.problems.count < 100 { outcome.problems.append((path, error)) }
        }
    }

    // MARK: Carrying it out

    /// - Throws: what ended it, with what was done until then.
    func carryOut(_ report: OperatedContainer.Report) throws {
        let directories = plan.then.keys.map(\.directory) + plan.steps.flatMap(\.directories)
        for directory in directories + moment.untold.map(\.directory) where try moment.isWithin(directory, plan.top) {
            times.note(directory)
        }
        defer { times.apply() }
        do {
            let left = try displaceUntold(report)
            for step in plan.steps { try make(step, report) }
            for path in left { outcome.note(Self.stays, path) }
            _ = try finder.looking(as: principal) { try $0.directory(plan.path) }
            for (place, was) in plan.documents {
                guard let path = path(of: place) else { continue }
                try trying(path, report) { try bringContentBack(was, at: place, path) }
            }
        } catch { throw outcome.ended(by: error) }
    }

    private static let stays = "it was made since, and stays: a program is writing it"

    /// - Returns: what is left because a program has it open for writing: its save would fail, or what an editor keeps
    ///   while it runs would be gone.
    private func displaceUntold(_ report: OperatedContainer.Report) throws -> [TreePath] {
        var left: [TreePath] = []
        for place in moment.untold where try moment.isWithin(place.directory, plan.top) {
            guard let path = path(of: place) else { continue }
            if try live.isBeingWritten(path) { left.append(path) } else { try displace(path, report) }
        }
        return left
    }

    private func displace(_ path: TreePath, _ report: OperatedContainer.Report) throws {
        try trying(path, report) { outcome.displaced += try live.displace(path, principal) }
    }

    private func make(_ step: NameStep, _ report: OperatedContainer.Report) throws {
        switch step {
        case .remove(let place):
            guard let path = path(of: place) else { return }
            if let inside = refused.first(where: { $0.isWithin(path) }) {
                return outcome.note("it was made since, and stays: \(inside) could not go back", path)
            }
            if try plan.isUnsaved(place), try live.isBeingWritten(path) { return outcome.note(Self.stays, path) }
            try displace(path, report)
        case .move(let from, let home):
            // What another program has removed meanwhile is not there.
            guard let path = path(of: from), try !live.isFree(path, principal) else { return }
            try put(home, or: path, report) { target in try live.move(path, to: target, principal) }
        case .bring(let home):
            guard let was = plan.then[home] else { return }
            try put(home, or: nil, report) { target in try bring(was, to: target) }
        }
    }

    private func put(
        _ home: Place, or path: TreePath?, _ report: OperatedContainer.Report, _ body: (TreePath) throws -> Void
    ) throws {
        // The failure of the directory above was told.
        guard let target = self.path(of: home) else { return }
        let before = outcome.problems.count
        try trying(target, report) {
            guard try live.isFree(target, principal) else { return outcome.note("its name is taken", target) }
            try body(target)
            if plan.then[home] != nil { outcome.entries += 1 }
        }
        if outcome.problems.count > before, let path { refused.append(path) }
    }

    // MARK: What is not there

    private func bring(_ was: NameThen, to target: TreePath) throws {
        if let other = try plan.otherName(of: was), let path = path(of: other) {
            return try live.link(path, to: target, principal)
        }
        if let (entry, deletion) = try plan.departed(was) {
            guard principal.isRoot || entry.kind == .replaced || finder.mayTake(deletion, principal) else {
                throw OperationError.denied(deletion.path)
            }
            return try EngineReturning(ground: ground).moveOut(
                deletion, entry, to: target, as: principal, by: ground.requester(principal), tells: true)
        }
        guard let then = try moment.content(of: was) else { throw OperationError(.contentMissing, Moment.notKept) }
        if let doubt = then.doubt { outcome.note(doubt, target) }
        try EngineReplacing(ground: ground).putNew(then.version, of: then.record(at: target), at: target, as: principal)
    }

    // MARK: Contents

    private func bringContentBack(_ was: NameThen, at place: Place, _ path: TreePath) throws {
        guard let there = try facts.name(at: place), !there.row.hasNoVersions, let current = there.version,
            let then = try moment.content(of: was)
        else { return }
        if let doubt = then.doubt { outcome.note(doubt, path) }
        let isChanged = try !moment.holds(current, then, path)
        if isChanged {
            if current.number != then.number { try replace(path, by: then, as: current.number) }
            try settle(path, then)
            outcome.entries += 1
        }
        guard then.number != current.number else { return }
        if try bringModeBack(then.version, path), !isChanged { outcome.entries += 1 }
    }

    private func replace(_ path: TreePath, by then: ContentThen, as current: VersionNumber) throws {
        _ = try finder.content(of: then.version, in: then.record(at: path))
        let replacement = EngineReplacing.Replacement(version: then.version, expected: try facts.id(of: current)) {
            .restore($0, $1, then.number, $2)
        }
        try EngineReplacing(ground: ground).replace(
            path, by: replacement, as: principal, by: ground.requester(principal))
    }

    /// What was appended since goes; and the file has its time again.
    private func settle(_ path: TreePath, _ then: ContentThen) throws {
        try live.requireWriting(to: path, as: principal)
        _ = try live.change(document: path, as: principal) { stat in
            if !then.isCut, stat.modified == then.version.modified { return nil }
            var edit = AttributeEdit()
            edit.modified = then.version.modified.timespec
            if then.isCut { edit.size = off_t(clamping: then.version.size) }
            return edit
        }
    }

    /// Of the version in the file the file itself knows best: its mode changes without a save.
    private func bringModeBack(_ then: Version, _ path: TreePath) throws -> Bool {
        try live.change(document: path, as: principal) { stat in
            // Who may not give a file these bits does not get them by bringing its content back.
            let former = then.attributes.mode & 0o777 | then.attributes.mode & stat.permissions & 0o7000
            guard former != stat.permissions else { return nil }
            guard principal.isRoot || principal.user == stat.raw.user else {
                let mode = String(former, radix: 8)
                outcome.note("its mode was \(mode) then, which only its owner may give it", path)
                return nil
            }
            var edit = AttributeEdit()
            edit.mode = mode_t(former)
            return edit
        }
    }
}

extension NameStep {
    /// The directories in which it changes something.
    fileprivate var directories: [FileID] {
        switch self {
        case .move(let from, let home): [from.directory, home.directory]
        case .bring(let place), .remove(let place): [place.directory]
        }
    }
}
