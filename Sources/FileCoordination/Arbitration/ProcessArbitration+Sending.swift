// Sends the effects of this process's arbiter.

import ControlProtocol
import Coordination
import Foundation
import Glibc
import VersionModel
import VersionsClient

extension ProcessArbitration.State {
    /// The time of the next timer and the wait until then; nil if an earlier timer is set.
    mutating func delay(_ now: Int64) -> (due: Int64, wait: Int64)? {
        guard let due = arbiter.nextDeadline, called.map({ due < $0 }) ?? true else { return nil }
        called = due
        return (due, due - now)
    }

    /// Puts the message of an effect into the outbox.
    mutating func send(_ effect: Effect, in arbitration: ProcessArbitration, _ now: Int64) {
        switch effect {
        case .granted(let id, let accesses, _):
            claims[id]?.seen = accesses.map { SeenItem(stamp: Stamp(Path($0.path))) }
            guard let then = claims[id]?.then.take() else { return }
            let reply = ClaimRequest.Reply(
                claim: id.number, purpose: claims[id]?.wanted.purpose ?? "", paths: accesses.map { Path($0.path) })
            outbox.append { then(.success(reply)) }
        case .failed(let claim, let failure):
            guard let then = claims.removeValue(forKey: claim.id)?.then else { return }
            let error = ControlError(failure)
            outbox.append { then(.failure(error)) }
        case .ask(let question, let presenter, let what, let claim):
            ask(question, presenter, PresenterMessage.Content(what, for: claim), in: arbitration)
        case .reacquire(let presenter, let claim): tell(presenter, .reacquire(claim: claim.number))
        case .presenterRevoked(let presenter): tell(presenter, .revoked)
        case .slow(let id, let culprit):
            guard let heldUp = claims[id]?.wanted.heldUp else { return }
            var isHolder = false
            if case .holder = culprit { isHolder = true }
            let notice = HeldUpNotification(
                key: nil, pid: getpid(), program: ProcessInfo.processInfo.processName, isHolder: isHolder)
            outbox.append { heldUp(notice) }
        case .probe(let connection): arbiter.alive(connection, now: now)
        // Never: this process answers for itself, and it knows nothing of plain programs.
        case .claimRevoked, .disturbed: break
        }
    }

    private mutating func ask(
        _ question: QuestionID, _ presenter: PresenterID, _ content: PresenterMessage.Content,
        in arbitration: ProcessArbitration
    ) {
        guard let sink = sinks[presenter] else { return }
        let message = PresenterMessage(content) { result in
            let answer: Answer =
                switch result {
                case .success: .done
                case .failure(let error): .refused(error.message)
                }
            arbitration.answer(question, answer)
        }
        outbox.append { sink.take(message) }
    }

    private mutating func tell(_ presenter: PresenterID, _ content: PresenterMessage.Content) {
        guard let sink = sinks[presenter] else { return }
        outbox.append { sink.take(PresenterMessage(content) { _ in }) }
    }
}

extension AccessKind {
    /// Reads a message's request; nil if its options contradict one another.
    init?(_ request: AccessRequest) {
        switch request.mode {
        case .reading:
            var options: Coordination.ReadingOptions = []
            for name in request.options {
                guard let option = ReadingOptionName(rawValue: name)?.option else { return nil }
                options.formUnion(Coordination.ReadingOptions(rawValue: UInt8(truncatingIfNeeded: option.rawValue)))
            }
            self = .reading(options)
        case .writing:
            guard request.options.count <= 1 else { return nil }
            guard let name = request.options.first else {
                self = .writing(.updating)
                return
            }
            guard let option = WritingOption(rawValue: name), option != .updating else { return nil }
            self = .writing(option)
        }
    }
}

extension PresenterMessage.Content {
    init(_ question: Question, for claim: ClaimID) {
        switch question {
        case .relinquish(let toWriter): self = .relinquish(toWriter: toWriter, claim: claim.number)
        case .save: self = .save(claim: claim.number)
        case .accommodateDeletion: self = .accommodateDeletion(of: nil, claim: claim.number)
        case .accommodateSubitemDeletion(let path): self = .accommodateDeletion(of: Path(path), claim: claim.number)
        }
    }
}

extension ControlError {
    /// The error for a claim in this process that was not granted.
    fileprivate init(_ failure: ClaimFailure) {
        switch failure {
        case .cancelled, .unresponsive: self.init(.cancelled, "cancelled")
        case .deadlock(let ring):
            let places = ring.map { claim in "the holder of /\(claim.accesses.first.map { "\($0.path)" } ?? "")" }
            self.init(
                .deadlock, "deadlock: \(places.joined(separator: " waits for "))",
                advice: "end the access that you are in, and ask for all items at once", errno: EDEADLK)
        case .refused(_, let reason): self.init(.refused, reason)
        }
    }
}
