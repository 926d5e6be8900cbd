/// How a handle may change its file.
public enum AccessMode: Hashable, Sendable, Comparable {
    case read
    /// It writes inside the file.
    case write
    /// It has emptied the file, or made it.
    case replace
    /// It writes at the end only (O_APPEND).
    case append
}
