// What a thread or task is doing in coordination, so that what it asks for meanwhile can say so.

/// The claims that a thread or task holds, and the presenter in whose handler it runs: a claim that is asked for in there
/// names them, for else nobody could tell that their holder waits for it (docs/decisions/0015).
///
/// ``current`` is that of the task, or of the thread where there is no task. What is handed to another queue takes its
/// context along by hand.
public struct CoordinationContext: Sendable {
    /// Who gave out the numbers: a connection, or another arbiter.
    public typealias Arbiter = ObjectIdentifier

    private var claims: [(arbiter: Arbiter, claim: UInt64)] = []
    private var presenters: [(arbiter: Arbiter, presenter: UInt64)] = []

    public init() {}

    /// That of the current task or thread.
    @TaskLocal public static var current = CoordinationContext()

    /// The claims that last as long as what is being done, of one arbiter.
    public func within(_ arbiter: Arbiter) -> [UInt64] {
        claims.filter { $0.arbiter == arbiter }.map(\.claim)
    }

    /// The presenter of an arbiter whose message is being handled.
    public func handling(_ arbiter: Arbiter) -> UInt64? { presenters.last { $0.arbiter == arbiter }?.presenter }

    /// The same while a claim is held.
    public func holding(_ claim: UInt64, of arbiter: Arbiter) -> CoordinationContext {
        var context = self
        context.claims.append((arbiter, claim))
        return context
    }

    /// The same while a presenter's message is handled.
    public func handling(_ presenter: UInt64, of arbiter: Arbiter) -> CoordinationContext {
        var context = self
        context.presenters.append((arbiter, presenter))
        return context
    }
}
