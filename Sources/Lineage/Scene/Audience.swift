// To which programs it matters what a program has seen.

import VersionModel

/// What a program has seen counts for itself and for its ancestors (``Kin``), as long as any of them may save.
public struct Audience: Hashable, Sendable {
    /// Whether the program may save still: it runs, or a program runs that it has started.
    public var mayAct: Bool
    /// Its ancestors that may save still.
    public var ancestors: [ActorNumber]

    public init(mayAct: Bool, ancestors: [ActorNumber]) { (self.mayAct, self.ancestors) = (mayAct, ancestors) }

    /// That of a program of which nothing is known.
    public static let itself = Audience(mayAct: true, ancestors: [])
}

/// Tells the audiences of programs.
public typealias Audiences = @Sendable ([ActorNumber]) -> [ActorNumber: Audience]
