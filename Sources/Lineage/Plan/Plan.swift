/// What one event does, in order (facts.md 7): `before`, `point`, `facts` in one transaction, `after`.
///
/// `before` only adds custody, so it may fail and leaves nothing to undo. `point` is the only call that may refuse.
/// `after` may fail without any loss. After a crash anywhere in it, ``Settling`` brings the facts to what the files
/// are.
public struct Plan: Hashable, Sendable {
    public var before: [Step] = []
    public var point: SystemCall?
    public var facts: [Fact] = []
    public var after: [Step] = []
    /// What is remembered afterwards, of everything that was in the scene.
    public var memory: Memory

    public init(memory: Memory) { self.memory = memory }
}
