/// What one event does, in order (facts.md 7): `before`, `point`, `facts` in one transaction, `after`.
///
/// `before` only adds custody, so it may fail and leaves nothing to undo. `point` is the only call that may refuse:
/// then `refusal` is recorded instead of the rest. `after` may fail without any loss. After a crash anywhere in it,
/// ``Settling`` brings the facts to what the files are.
public struct Plan: Hashable, Sendable {
    /// The effects of a plan whose system call is refused: bytes that had to be a version before it are one.
    public struct Refusal: Hashable, Sendable {
        public var facts: [Fact]
        /// Files that were made for the call go.
        public var after: [Step]
        public var memory: Memory

        public init(facts: [Fact] = [], after: [Step] = [], memory: Memory) {
            (self.facts, self.after, self.memory) = (facts, after, memory)
        }
    }

    public var before: [Step] = []
    public var point: SystemCall?
    public var facts: [Fact] = []
    public var after: [Step] = []
    /// nil if the event has no call that could be refused.
    public var refusal: Refusal?
    /// What is remembered afterwards, of everything that was in the scene.
    public var memory: Memory

    public init(memory: Memory) { self.memory = memory }
}
