// What a client's rights are by the time that it is asked or told something: its item may have moved, or another file
// may have its name.

import Coordination
import Synchronization
import VersionModel

extension Coordinator {
    /// Where a presenter's item is now.
    public func path(of presenter: PresenterID) -> TreePath? {
        state.withLock { $0.arbiter.presenter(presenter)?.path }
    }

    /// What a claim is on now; nothing once it has ended.
    public func accesses(of claim: ClaimID) -> [Access] {
        state.withLock { $0.arbiter.claim(claim)?.accesses ?? [] }
    }
}

extension Finder {
    /// Whether a presenter may be asked something about its item, or about something in its directory: who may not read
    /// that is neither told of it nor waited for.
    /// - Parameter path: where its item is now.
    public func mayBeAsked(_ question: Question, at path: TreePath?, as principal: Principal) -> Bool {
        guard !knowsAll(principal) else { return true }
        if case .accommodateSubitemDeletion(let subitem) = question { return mayKnowName(subitem, as: principal) }
        return path.map { mayHave(.reading(.withoutChanges), at: $0, principal) } ?? true
    }

    /// Whether a presenter's refusal counts: it may write what it is asked about.
    public func mayRefuse(_ question: Question, at path: TreePath?, as principal: Principal) -> Bool {
        if case .accommodateSubitemDeletion(let subitem) = question { return mayRefuse(subitem, as: principal) }
        return path.map { mayRefuse($0, as: principal) } ?? true
    }

    /// Whether a claim's holder may still do what it is for: on a name that was free it may be another's file now.
    public func mayHold(_ accesses: [Access], as principal: Principal) -> Bool {
        knowsAll(principal) || accesses.allSatisfy { mayHave($0.kind, at: $0.path, principal) }
    }

    /// Whether the caller may do something with what is at a path. With what is gone it may do anything, as far as it
    /// can come that far: of that it knows.
    private func mayHave(_ kind: AccessKind, at path: TreePath, _ principal: Principal) -> Bool {
        let result: Void? = try? looking(as: principal) { walk in
            guard !path.bytes.isEmpty else { return try requireOfRoot(kind, walk) }
            let spot: Spot
            do {
                spot = try walk.spot(path)
            } catch let error as OperationError where error.kind == .notFound {
                return
            }
            if spot.stat != nil { try require(kind, on: spot, walk) }
        }
        return result != nil
    }
}
