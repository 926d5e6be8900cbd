import VersionModel

/// How the programs of a scene are related (DESIGN 5.2). The engine gathers it from `/proc`, where it may change; rules
/// take it as it is given.
public struct Kin: Hashable, Sendable {
    public struct Relation: Hashable, Sendable {
        public var actor: ActorNumber
        /// Its ancestors that count, nearest first: none beyond a boundary.
        public var lineage: [ActorNumber]
        /// Its program, as a number; nil if that is not known.
        public var program: UInt32?

        /// Whether the last of its lineage is a shell at a terminal.
        public var endsAtTerminal: Bool
        /// Whether it runs no more, so that it saves nothing any more.
        public var hasEnded = false

        public init(
            actor: ActorNumber, lineage: [ActorNumber], program: UInt32? = nil, endsAtTerminal: Bool = false
        ) {
            self.actor = actor
            self.lineage = lineage
            self.program = program
            self.endsAtTerminal = endsAtTerminal
        }
    }

    public private(set) var relations: [Relation] = []
    private var note = AskedNote()

    /// The programs that a plan asks about are noted there; nil if all are here.
    var asked: Asked? {
        get { note.asked }
        set { note.asked = newValue }
    }

    public init(_ relations: [Relation] = []) { self.relations = relations }

    public subscript(_ actor: ActorNumber) -> Relation? {
        asked?.note(actor)
        return relations.first { $0.actor == actor }
    }

    public func lineage(of actor: ActorNumber) -> [ActorNumber] { self[actor]?.lineage ?? [] }

    /// Whether one is the other, or an ancestor of it. Siblings are not kin.
    public func areKin(_ one: ActorNumber, _ other: ActorNumber) -> Bool {
        one == other || lineage(of: one).contains(other) || lineage(of: other).contains(one)
    }

    /// Whether two append as one: the same process, or the same program with the same parent (`date` in a loop).
    public func appendAsOne(_ one: ActorNumber, _ other: ActorNumber) -> Bool {
        if one == other { return true }
        guard let first = self[one], let second = self[other], let program = first.program else { return false }
        return program == second.program && first.lineage.first != nil && first.lineage.first == second.lineage.first
    }

    /// The ancestors whose other descendants lend to a program. A shell at a terminal passes on what its commands have
    /// seen to other commands, and to nothing that those start (decisions/0007).
    func lenders(to actor: ActorNumber) -> [ActorNumber] {
        guard let relation = self[actor] else { return [] }
        return relation.endsAtTerminal && relation.lineage.count > 1 ? relation.lineage.dropLast() : relation.lineage
    }

    /// Whether what a program has seen is lent to another: to all its ancestors.
    func lends(_ actor: ActorNumber, to other: ActorNumber) -> Bool { lineage(of: actor).contains(other) }
}
