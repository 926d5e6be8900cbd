// The answer to a question, given once: by whoever has the block, or by the block's end.

import ControlProtocol
import Foundation
import Synchronization

/// Answers a question once. If the presenter lets go of the block without calling it, nobody can answer any more, and
/// nobody waits for it.
final class PresenterReply: Sendable {
    private let answer: @Sendable (Result<Void, ControlError>) -> Void
    private let ifDropped: ControlError?
    private let isGiven = Atomic(false)

    /// - Parameter dropped: what it comes to if the presenter never answers; nil if that is as good as any answer.
    init(ifDropped dropped: ControlError?, _ answer: @escaping @Sendable (Result<Void, ControlError>) -> Void) {
        self.answer = answer
        ifDropped = dropped
    }

    deinit {
        if !isGiven.load(ordering: .acquiring) { answer(ifDropped.map { .failure($0) } ?? .success(())) }
    }

    /// Gives the answer; false if there was one before.
    @discardableResult
    func give(_ error: (any Error)? = nil) -> Bool {
        guard isGiven.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        else { return false }
        answer(error.map { .failure(ControlError(presenters: $0)) } ?? .success(()))
        return true
    }
}

extension ControlError {
    /// What a presenter said, as it travels: its words.
    init(presenters error: any Error) {
        if let error = error as? ControlError {
            self = error
        } else {
            self.init(.failed, (error as NSError).localizedDescription)
        }
    }
}
