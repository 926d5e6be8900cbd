/// One fact, as a transaction records it.
public enum Fact: Hashable, Sendable {
    case row(NameRow)
    case version(VersionRow)
    /// The version of that number is this from now on.
    case amend(VersionRow)
    /// Its author has gone on from a conflict version: that is one no more.
    case settle(VersionNumber)
    /// The version goes with its ephemeral name.
    case forget(VersionNumber)
    /// A row that was only in memory is one like any other from now on.
    case publish(RowNumber)
    /// What that removal has deleted is gone for good.
    case purge(RowNumber)
}
