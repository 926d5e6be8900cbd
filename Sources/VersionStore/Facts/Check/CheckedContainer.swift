// What a check of the facts asks of the container whose facts they are.

import Lineage
import VersionModel

/// A container that a check looks at, which may be in use.
public protocol CheckedContainer {
    /// Where a file is by its names, those that only memory knows included.
    func look(for file: FileID) -> CheckedFile
    /// Whether a program has a file open, so that the file may be changing.
    func isOpen(_ file: FileID) -> Bool
    /// Whether memory knows of a version in a content.
    func isKnown(_ content: Content) -> Bool
    /// Does something while no event changes a file or any name.
    func alone<Answer>(with file: FileID, _ body: () throws(StoreError) -> Answer) throws(StoreError) -> Answer
    /// Tells memory of facts that are about to be recorded.
    func remember(_ facts: [Fact])
}

/// What a look for a file has found.
public enum CheckedFile: Sendable {
    case there
    /// No name has it.
    case gone
    /// It may be there: something hides it, or it cannot be looked at.
    case unknown
}
