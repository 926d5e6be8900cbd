// The answer to a question, given once: by a call of the block, or by its deallocation.

import ControlProtocol
import Foundation
import Synchronization

/// Answers a question once. If the presenter releases the block without a call, no answer can come any more, and the
/// asker must not wait for it.
final class PresenterReply: Sendable {
    private let answer: @Sendable (Result<Void, ControlError>) -> Void
    private let ifDropped: ControlError?
    private let isGiven = Atomic(false)

    /// - Parameter dropped: the error if the presenter never answers; nil if the missing answer counts as success.
    init(ifDropped dropped: ControlError?, _ answer: @escaping @Sendable (Result<Void, ControlError>) -> Void) {
        self.answer = answer
        ifDropped = dropped
    }

    deinit {
        if !isGiven.load(ordering: .acquiring) { answer(ifDropped.map { .failure($0) } ?? .success(())) }
    }

    /// Gives the answer; false if it was given before.
    @discardableResult
    func give(_ error: (any Error)? = nil) -> Bool {
        guard isGiven.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        else { return false }
        answer(error.map { .failure(ControlError(presenters: $0)) } ?? .success(()))
        return true
    }
}

extension ControlError {
    /// A presenter's error in the form of the protocol: its message.
    init(presenters error: any Error) {
        if let error = error as? ControlError {
            self = error
        } else {
            self.init(.failed, (error as NSError).localizedDescription)
        }
    }
}
