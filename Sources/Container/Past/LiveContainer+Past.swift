// The past of a directory: its difference from today, its return, and a copy of it.

import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Brings a directory back as it was, in place: names made since go to the deleted area, deleted and renamed ones
    /// come back, each document gets the content that it had. With `target` only a copy is made.
    ///
    /// The feed holds the last 100,000 changes; of names that changed before those nothing is known.
    public func restoreDirectory(
        _ path: TreePath, at time: Timestamp, to target: TreePath? = nil, as principal: Principal,
        report: (_ done: Int) throws -> Void = { _ in }
    ) throws(OperationError) -> RestoreOutcome {
        try operation {
            if target == nil { try requireReachable(path, at: time, principal) }
            try past.requireThen(path, at: time)
            let aftermath = try past.aftermath(since: time)
            if let target {
                return try copyDirectory(path, aftermath, to: target, as: principal, report: report)
            }
            let run = try PastReturn(past, self, path, aftermath, as: principal)
            try run.requireRights()
            try run.carryOut(report)
            return run.outcome
        }
    }

    /// Refuses a directory that is not there and cannot come back under its name.
    private func requireReachable(_ path: TreePath, at time: Timestamp, _ principal: Principal) throws {
        do {
            _ = try looking(as: principal) { try $0.directory(path) }
        } catch let error as OperationError where error.kind == .notFound {
            try past.requireReturn(of: path, since: time, error)
        }
    }

    /// What in a directory is not as it was, by path, as far as the caller may know it. Of a directory that came or
    /// went the entries below it are left out.
    public func differences(
        in path: TreePath, since time: Timestamp, as principal: Principal
    ) throws(OperationError) -> [PastDifference] {
        try operation {
            try past.requireThen(path, at: time)
            var comparison = try PastComparison(past, self, past.aftermath(since: time), as: principal)
            return try comparison.differences(in: path)
        }
    }

    /// The moment before the last run of a program that changed something in a directory; nil if none is remembered.
    /// - Parameter program: a name, or the number of a process.
    public func momentBefore(
        lastRunOf program: String, in path: TreePath, as principal: Principal
    ) throws(OperationError) -> Timestamp? {
        try operation {
            try finder.momentBefore(
                lastRunOf: program, in: path, among: past.changes { _ in true }, begins: past.adoption, as: principal)
        }
    }
}
