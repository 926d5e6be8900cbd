// What the daemon tells of a container over the engine: counts, the check of its state, its past.

import VersionModel
import VersionStore

extension EngineContainer {
    public var writingFailure: String? { facts.writingFailure }
    public var isWritingStuck: Bool { facts.isWritingStuck }

    public func counts() throws(StoreError) -> ContainerCounts { try facts.lists.counts() }

    public func lostContents(naming limit: Int) throws(StoreError) -> LostContents {
        try facts.lists.lostContents(naming: limit)
    }

    public func check(
        repair: Bool, isAtRest: Bool, progress: (_ done: Int, _ of: Int) -> Void
    ) throws(StoreError) -> [Finding] {
        let engine = CheckedEngine(recorded: recorded)
        return try FactCheck(facts, state, of: engine, repairs: repair, isAtRest: isAtRest).run(progress)
    }

    public func differences(
        in path: TreePath, since time: Timestamp, as principal: Principal
    ) throws(OperationError) -> [PastDifference] { try work.differences(in: path, since: time, as: principal) }

    public func momentBefore(
        lastRunOf program: String, in path: TreePath, as principal: Principal
    ) throws(OperationError) -> Timestamp? { try work.momentBefore(lastRunOf: program, in: path, as: principal) }
}
