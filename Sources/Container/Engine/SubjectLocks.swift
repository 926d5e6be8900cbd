// Locks of files and documents, so that events that have none in common go on beside one another.

import Dispatch
import Lineage
import VersionModel

/// Gives an event all its subjects at once, so that their order does not matter. Events wait in their order: one that
/// needs many subjects is not passed by others that need one of them.
///
/// Lock order: before the names. A thread that has the names never waits for subjects.
final class SubjectLocks: Sendable {
    private struct Waiting: Sendable {
        var subjects: Subjects
        var granted: DispatchSemaphore
    }

    private struct State: Sendable {
        /// Of each event that has some: these are few.
        var held: [Subjects] = []
        /// In the order in which they came.
        var waiting: [Waiting] = []
    }

    /// Innermost; held for a look.
    private let state = RankedMutex(State())

    /// Waits until no other event has any of the subjects, and takes them.
    func take(_ subjects: Subjects) {
        if subjects.isEmpty { return }
        let granted = state.withLock { state -> DispatchSemaphore? in
            let isFree = state.held.allSatisfy { $0.isDisjoint(with: subjects) }
                && state.waiting.allSatisfy { $0.subjects.isDisjoint(with: subjects) }
            if isFree {
                state.held.append(subjects)
                return nil
            }
            let granted = DispatchSemaphore(value: 0)
            state.waiting.append(Waiting(subjects: subjects, granted: granted))
            return granted
        }
        granted?.wait()
    }

    /// Gives subjects back, all that were taken at once, and wakes the events that have waited for them alone.
    func giveBack(_ subjects: Subjects) {
        if subjects.isEmpty { return }
        let granted = state.withLock { state -> [DispatchSemaphore] in
            if let index = state.held.firstIndex(of: subjects) { state.held.remove(at: index) }
            guard !state.waiting.isEmpty else { return [] }
            var (taken, rest, granted) = (state.held, [Waiting](), [DispatchSemaphore]())
            for waiting in state.waiting {
                if taken.allSatisfy({ $0.isDisjoint(with: waiting.subjects) }) {
                    state.held.append(waiting.subjects)
                    granted.append(waiting.granted)
                } else {
                    rest.append(waiting)
                }
                taken.append(waiting.subjects)
            }
            state.waiting = rest
            return granted
        }
        for waiting in granted { waiting.signal() }
    }
}
