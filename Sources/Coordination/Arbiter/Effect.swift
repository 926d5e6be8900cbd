// The arbiter's effects, which its driver carries out in this order.

/// An effect.
public enum Effect: Hashable, Sendable {
    /// The claim's accessor may run. The accesses have the present paths of their items.
    case granted(ClaimID, [Access], Grant)
    /// The claim is over without being granted.
    case failed(Claim, ClaimFailure)
    /// A question to a presenter.
    case ask(QuestionID, PresenterID, Question, for: ClaimID)
    /// The presenter has its item back: each relinquishing is followed by this, whatever the claim's outcome.
    case reacquire(PresenterID, ClaimID)
    /// For a waiting claim: the holder.
    case slow(ClaimID, Culprit)
    /// For a presenter without an answer in time: no claim waits for it until it answers again. It may show old
    /// content.
    case presenterRevoked(PresenterID)
    /// For a holder without a sign of life in time: other claims have its items.
    case claimRevoked(Claim)
    /// For a holder: a plain program makes this access to the claimed item without a wait.
    case disturbed(ClaimID, Access)
    /// A check that a client runs: any answer leads to ``Arbiter/alive(_:now:)``.
    case probe(ConnectionID)
}

/// The reason why a claim continues.
public enum Grant: Hashable, Sendable {
    case free
    /// A plain program has waited long enough.
    case impatient
}

/// The reason why a claim is not granted.
public enum ClaimFailure: Hashable, Sendable {
    case cancelled
    /// Each of these claims waits for the next, and the last for the first: this one was the youngest.
    case deadlock([Claim])
    /// A presenter could not save, or refused the deletion of its item.
    case refused(PresenterID, String)
    /// Its client kept others waiting and did not answer.
    case unresponsive
}

/// The holder that keeps a claim waiting.
public enum Culprit: Hashable, Sendable {
    case presenter(PresenterID)
    case holder(ClaimID)
}

/// A presenter's answer.
public enum Answer: Hashable, Sendable {
    case done
    case refused(String)
}
