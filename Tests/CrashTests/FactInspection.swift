// Looks into a container of facts that nobody has mounted: all versions, with their bytes.

import Foundation
import Lineage
import Logging
import SystemPackage
import VersionModel

@testable import VersionStore

/// The versions of a container that the engine has served.
struct FactInspection {
    struct Found {
        var row: VersionRow
        /// nil if they are nowhere.
        var bytes: [UInt8]?
    }

    private(set) var versions: [Found] = []
    private(set) var unfinished = 0
    /// Versions that are marked as lost.
    private(set) var lost: [VersionNumber] = []

    init(_ root: FileDescriptor, _ path: String) throws {
        let options = ContainerState.Options(logger: Logger(label: "inspection"), readOnly: true)
        let state = try ContainerState(root: root, options: options)
        defer { state.close() }
        let store = try FactStore(of: state)
        defer { store.close() }
        var facts = Facts()
        for transaction in try store.feed(after: 0, limit: .max).transactions {
            for fact in transaction.facts { facts.apply(fact) }
        }
        for version in facts.versions where !version.isForgotten {
            let marks = try store.detail(of: version.number)?.marks ?? []
            if marks.contains(.unfinished) { unfinished += 1 }
            if marks.contains(.lost) { lost.append(version.number) }
            let object = "\(path)/.versionsfs/objects/\(state.contents.name(of: ContentID(version.content)).name)"
            let live = facts.names(of: version.content.file).compactMap { Self.path(of: $0, facts, store) }.first
            let bytes = Inspection.read(object) ?? live.flatMap { Inspection.read("\(path)/\($0)") }
            versions.append(Found(row: version, bytes: bytes.map { Array($0.prefix(Int(version.fingerprint.size))) }))
        }
    }

    private static func path(of row: NameRow, _ facts: Facts, _ store: FactStore) -> String? {
        var names: [String] = []
        var next: NameRow? = row
        while let row = next, let place = try? store.place(row.place) {
            names.append(String(decoding: place.name.bytes, as: UTF8.self))
            if place.directory == .root { return names.reversed().joined(separator: "/") }
            next = facts.names(of: place.directory).last
        }
        return nil
    }
}
