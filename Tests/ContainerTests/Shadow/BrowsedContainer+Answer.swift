// What a container says of itself, to be compared with what the rules of `Lineage` lead to.

import Foundation
import Glibc
import LineageShadow
import SystemPackage
import VersionModel

@testable import Container
@testable import VersionStore

extension BrowsedContainer {
    var answer: Answer {
        get throws {
            container.store.flush()
            var answer = Answer()
            for name in try FileManager.default.subpathsOfDirectory(atPath: path)
            where !name.hasPrefix(".versionsfs") && name != ".versions" {
                var status = stat()
                guard lstat("\(path)/\(name)", &status) == 0 else { continue }
                if status.st_mode & S_IFMT == S_IFDIR {
                    answer.directories.insert(name)
                } else {
                    answer.names[name] = try self.answer(name)
                }
            }
            let deletions = try container.store.deletions(within: nil)
            answer.setDeleted(
                try deletions.map { ("\($0.path)", try $0.item.map { try texts(of: $0) } ?? []) })
            answer.superseded = try superseded(Set(deletions.compactMap(\.item)))
            return answer
        }
    }

    /// The histories without a name and without a deletion, as far as no name shows the same. Of several that hold the
    /// same, the longest stands for all.
    private func superseded(_ deleted: Set<ItemID>) throws -> [[String]] {
        let items = try container.store.allItems()
        var shown = Set(try items.filter { !$0.places.isEmpty }.flatMap { try texts(of: $0.id) })
        let others = try items.filter { $0.places.isEmpty && !deleted.contains($0.id) }.map { try texts(of: $0.id) }
        let superseded = others.sorted { $1.count < $0.count }.filter { other in
            let isNew = !shown.isSuperset(of: other)
            shown.formUnion(other)
            return isNew
        }
        return superseded.sorted { "\($0)" < "\($1)" }
    }

    private func answer(_ name: String) throws -> Answer.Name {
        let item = try container.store.item(at: place(name))
        return Answer.Name(
            content: try live(name), history: try item.map { try texts(of: $0.id) } ?? [],
            conflicts: try item.map { try container.store.conflicts(of: $0.id).map(text) }?.sorted() ?? [])
    }

    /// A version without a content says so. It is of bytes that a kill has met unsaved: a content that a close has
    /// acknowledged is missed elsewhere (`ShadowPlay.lost`, `InterleavedPlay`).
    private func texts(of item: ItemID) throws -> [String] {
        try container.store.versions(of: item).filter { !$0.flags.contains(.contentLost) }
            .sorted { $0.time > $1.time }.map(text)
    }

    private func text(_ version: Version) throws -> String {
        guard let file = try StoreCheck(store: container.store, repairs: false).open(version) else { return "(lost)" }
        defer { try? file.close() }
        var buffer = [UInt8](repeating: 0, count: Int(clamping: version.size))
        let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}
