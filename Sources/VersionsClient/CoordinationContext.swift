// The claims and the presenter of a thread or task, for the requests that it makes.

/// The claims that a thread or task holds, and the presenter whose handler it runs. A new claim names them; otherwise
/// the daemon could not know that their holder waits for it (docs/decisions/0015).
///
/// ``current`` is the context of the task, or of the thread if there is no task. Work on another queue has to set its
/// context explicitly.
public struct CoordinationContext: Sendable {
    /// The origin of the numbers: a connection, or another arbiter.
    public typealias Arbiter = ObjectIdentifier

    private var claims: [(arbiter: Arbiter, claim: UInt64)] = []
    private var presenters: [(arbiter: Arbiter, presenter: UInt64)] = []

    public init() {}

    /// The context of the current task or thread.
    @TaskLocal public static var current = CoordinationContext()

    /// The claims of one arbiter that last as long as the current work.
    public func within(_ arbiter: Arbiter) -> [UInt64] {
        claims.filter { $0.arbiter == arbiter }.map(\.claim)
    }

    /// The presenter of an arbiter whose message the current work handles.
    public func handling(_ arbiter: Arbiter) -> UInt64? { presenters.last { $0.arbiter == arbiter }?.presenter }

    /// The same context with a claim.
    public func holding(_ claim: UInt64, of arbiter: Arbiter) -> CoordinationContext {
        var context = self
        context.claims.append((arbiter, claim))
        return context
    }

    /// The same context with the handling of a presenter's message.
    public func handling(_ presenter: UInt64, of arbiter: Arbiter) -> CoordinationContext {
        var context = self
        context.presenters.append((arbiter, presenter))
        return context
    }
}
