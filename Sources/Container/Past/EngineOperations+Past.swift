// The past of a directory, over the engine: its return, a copy of it, and its difference from today.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension EngineOperations {
    /// How many facts are looked at for the last run of a program.
    private static let mostChanges: UInt64 = 100_000

    private func moment(_ time: Timestamp) throws -> Moment {
        try Moment(CallersTree(finder: ground.finder, requests: requests), ground, at: time)
    }

    func restoreDirectory(
        _ path: TreePath, at time: Timestamp, to target: TreePath?, as principal: Principal, report: Report
    ) throws(OperationError) -> RestoreOutcome {
        try operation {
            let moment = try moment(time)
            if let target {
                return try DirectoryCopy(moment, path, to: target, as: principal).carryOut(report)
            }
            let plan = try DirectoryReturn(moment, path, as: principal)
            try plan.requireRights(of: principal)
            let run = ReturnRun(plan, as: principal)
            try run.carryOut(report)
            return run.outcome
        }
    }

    func differences(
        in path: TreePath, since time: Timestamp, as principal: Principal
    ) throws(OperationError) -> [PastDifference] {
        try operation {
            var comparison = try MomentComparison(moment(time), as: principal)
            return try comparison.differences(in: path)
        }
    }

    func momentBefore(
        lastRunOf program: String, in path: TreePath, as principal: Principal
    ) throws(OperationError) -> Timestamp? {
        try operation {
            let end = try ground.past.lastTold()
            var (all, last): ([Change], UInt64) = ([], end - min(end, Self.mostChanges))
            while last < end {
                let told = try ground.past.told(after: last, limit: 5000)
                guard told.last > last else { break }
                (all, last) = (all + told.changes.map(\.change), told.last)
            }
            let begins = try Beginning(ground.facts).time
            return ground.finder.momentBefore(lastRunOf: program, in: path, among: all, begins: begins, as: principal)
        }
    }
}
