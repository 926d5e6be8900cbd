// What the arbiter wants done: whoever drives it sends it on, in this order.

/// Something to do.
public enum Effect: Hashable, Sendable {
    /// The claim's accessor may run. The accesses have the paths that their items have now.
    case granted(ClaimID, [Access], Grant)
    /// The claim is gone and was never granted.
    case failed(Claim, ClaimFailure)
    /// A question to a presenter.
    case ask(QuestionID, PresenterID, Question, for: ClaimID)
    /// The presenter has its item back: every relinquishing is followed by this, whatever became of the claim.
    case reacquire(PresenterID, ClaimID)
    /// To whoever waits: who holds it up.
    case slow(ClaimID, Culprit)
    /// To a presenter that has not answered in time: nobody waits for it any more, until it answers again. What it
    /// shows may be old.
    case presenterRevoked(PresenterID)
    /// To a holder that has not shown in time that it runs: others have what it held.
    case claimRevoked(Claim)
    /// To a holder: a plain program does this to what it holds, without waiting for it.
    case disturbed(ClaimID, Access)
    /// To see whether a client runs: any answer to it is ``Arbiter/alive(_:now:)``.
    case probe(ConnectionID)
}

/// Why a claim goes on.
public enum Grant: Hashable, Sendable {
    case free
    /// A plain program has waited long enough.
    case impatient
}

/// Why a claim is not granted.
public enum ClaimFailure: Hashable, Sendable {
    case cancelled
    /// Each of these claims waits for the next, and the last for the first: this one was the youngest.
    case deadlock([Claim])
    /// A presenter could not save, or does not want the item deleted.
    case refused(PresenterID, String)
    /// Its client had others wait for it, and did not answer.
    case unresponsive
}

/// Who holds up a claim.
public enum Culprit: Hashable, Sendable {
    case presenter(PresenterID)
    case holder(ClaimID)
}

/// How a presenter answers.
public enum Answer: Hashable, Sendable {
    case done
    case refused(String)
}
