// What a task is doing in coordination, so that what it asks for meanwhile can say so.

/// The claims that a task holds, and the presenter in whose handler it runs: a claim that is asked for in there names
/// them, for else nobody could tell that their holder waits for it (docs/decisions/0015).
public struct CoordinationContext: Sendable {
    /// The container's socket connection that the numbers belong to.
    var connection: ObjectIdentifier
    /// Claims that last as long as the task does what it does.
    var within: [UInt64] = []
    /// The presenter whose message is being handled.
    var handling: UInt64?

    /// That of the current task; nil outside of coordination.
    @TaskLocal public static var current: CoordinationContext?

    /// That of the current task as far as it is about a connection.
    static func current(of connection: ControlConnection) -> CoordinationContext {
        guard let current, current.connection == ObjectIdentifier(connection) else {
            return CoordinationContext(connection: ObjectIdentifier(connection))
        }
        return current
    }

    func adding(_ claim: UInt64) -> CoordinationContext {
        var context = self
        context.within.append(claim)
        return context
    }
}
