import Lineage
import VersionModel
import VersionStore

/// A log that tells all of a file, too.
protocol SettlingLog: FactLog {
    /// All rows that gave a file a name, oldest first.
    func rows(of file: FileID) -> [NameRow]
    /// The versions in all contents of a file, also forgotten ones, oldest first.
    func versions(from file: FileID) -> [VersionRow]
}

extension StoredFacts: SettlingLog {}
