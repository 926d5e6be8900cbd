// Entries of the deleted area that a killed mount has made, and of which no fact tells.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Finds the entry of a file whose removal was not recorded. Its identity derives from a number that the facts had not
/// come to: few numbers behind the last one were set aside.
final class LeftEntries {
    private static let most: UInt64 = 4096

    private let store: ContainerState
    private let facts: FactStore
    private let last: UInt64
    private lazy var found: [FileID: Deletion] = find()

    init(_ store: ContainerState, _ facts: FactStore) {
        (self.store, self.facts) = (store, facts)
        last = facts.facts().lastNumber
    }

    /// How something without versions was removed: it is in the deleted area, or was removed below the mount.
    func removal(of row: NameRow) throws(Errno) -> NameDetail? {
        if let entry = row.file.flatMap({ found[$0] }) {
            return NameDetail(type: entry.type, isEntry: true, deletion: entry.id)
        }
        return try facts.removalBelow(of: row)
    }

    private func find() -> [FileID: Deletion] {
        var found: [FileID: Deletion] = [:]
        for number in (last + 1)...(last + Self.most) {
            guard let id = facts.id(ofDeletion: RowNumber(number), nil),
                let label = try? store.deletedArea.label(of: id)
            else { continue }
            found[label.file] = label
        }
        return found
    }
}

extension FactStore {
    /// How something without versions was removed below the mount. A directory comes back as a new one, with what was
    /// in it.
    func removalBelow(of row: NameRow) throws(Errno) -> NameDetail? {
        do throws(StoreError) {
            return try detail(of: row.number)?.type == .directory ? NameDetail(type: .directory, isEntry: true) : nil
        } catch { throw .ioError }
    }
}
