/// Whether a version is what the names of its document showed, or was saved beside that (facts.md 3): to a file which
/// had lost its name.
public enum Beside: Hashable, Sendable {
    /// The names showed it.
    case no
    case history
    case conflict
}
