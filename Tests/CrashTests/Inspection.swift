// Looks into a container that nobody has mounted: the live files, all versions, and the check.

import CrashLoad
import Crypto
import Foundation
import Logging
import Synchronization
import SystemPackage
import VersionModel
@testable import VersionStore

/// A clock ahead of the time, so that the check takes nothing for just being written.
private struct LaterClock: WallClock {
    func now() -> Timestamp { Timestamp(nanoseconds: SystemClock().now().nanoseconds + 60_000_000_000) }
}

/// What is in a container.
struct Inspection {
    /// SHA-256 of the content of every version and every deleted file.
    private(set) var contents: Set<SHA256.Digest> = []
    /// Contents of items without a name, which nobody can find by a path.
    private(set) var nameless: Set<SHA256.Digest> = []
    private(set) var problems: [String] = []
    private(set) var unfinished = 0
    private(set) var versions = 0
    private let isKill: Bool

    init(_ path: String, after ending: Ending) throws {
        isKill = ending == .kill
        let root = try FileDescriptor.open(FilePath(path), .readOnly, options: .directory)
        defer { try? root.close() }
        let format = Self.read(path + "/.versionsfs/format") ?? []
        guard !format.starts(with: "versionsfs 2".utf8) else {
            try lookAtFacts(root, path)
            return
        }
        let store = try VersionStore(
            root: root, options: .init(clock: LaterClock(), logger: Logger(label: "inspection"), readOnly: true))
        defer { store.close() }
        for finding in try store.check(repair: false) {
            problems.append("check: \(finding.text) (\(finding.subject), \(finding.path.map { "\($0)" } ?? "-"))")
        }
        // Every item with versions, through the items of all directories and the deleted ones.
        var items: Set<ItemID> = []
        for directory in try store.recordedDirectories() {
            for item in try store.items(in: directory) { items.insert(item.id) }
        }
        for deletion in try store.deletions(within: nil) {
            if let item = deletion.item { items.insert(item) }
            let place = store.deletedArea.name(of: deletion.id)
            guard deletion.type == .file, let bytes = read("\(path)/.versionsfs/deleted/\(place.name)") else {
                continue
            }
            note(bytes)
            guard let item = deletion.item else { continue }
            for version in try store.versions(of: item) where version.size < bytes.count {
                note(Array(bytes.prefix(Int(version.size))))
            }
        }
        for id in items { try note(id, store, path) }
        let reached = contents
        for item in try store.catalog.access({ try Query.allItems($0) }) where !items.contains(item.id) {
            try note(item.id, store, path)
        }
        nameless = contents.subtracting(reached)
        contents = reached
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path + "/.versionsfs/staging")) ?? [] {
            problems.append("staging/\(name) was left")
        }
    }

    private mutating func note(_ id: ItemID, _ store: VersionStore, _ path: String) throws {
        let item = try store.item(id)
        let live = try item.flatMap { try store.path(of: $0) }.map { "\(path)/\($0)" }
        for version in try store.versions(of: id) {
            versions += 1
            if version.flags.contains(.unfinished) { unfinished += 1 }
            // What was not synchronized may be lost with the power.
            if version.flags.contains(.contentLost), isKill {
                problems.append("the content of version \(version.id) of \(live ?? "?") is lost")
            }
            let object = "\(path)/.versionsfs/objects/\(store.contents.name(of: version.content).name)"
            if let bytes = read(object) {
                note(Array(bytes.prefix(Int(version.size))))
            } else {
                // In the live or deleted file of whoever has it for the current version.
                for other in try store.versions(sharing: version.content) {
                    guard let item = try store.item(other.item) else { continue }
                    if let place = try store.path(of: item) {
                        note(read("\(path)/\(place)").map { Array($0.prefix(Int(version.size))) })
                    }
                    for deletion in try store.deletions(of: item.id) {
                        let name = store.deletedArea.name(of: deletion.id).name
                        note(read("\(path)/.versionsfs/deleted/\(name)").map { Array($0.prefix(Int(version.size))) })
                    }
                }
            }
        }
    }

    /// Whether any file of a container, live, kept or deleted, begins so.
    static func isBeginning(_ bytes: [UInt8], in path: String) throws -> Bool {
        for file in try FileManager.default.subpathsOfDirectory(atPath: path) {
            guard let handle = FileHandle(forReadingAtPath: "\(path)/\(file)") else { continue }
            defer { try? handle.close() }
            if let beginning = try? handle.read(upToCount: bytes.count), beginning.elementsEqual(bytes) { return true }
        }
        return false
    }

    /// A container that the engine has served. Its check was made by the tool.
    private mutating func lookAtFacts(_ root: FileDescriptor, _ path: String) throws {
        let found = try FactInspection(root, path)
        (versions, unfinished) = (found.versions.count, found.unfinished)
        for version in found.versions { note(version.bytes) }
        if isKill { for lost in found.lost { problems.append("the content of version \(lost) is lost") } }
    }

    private mutating func note(_ bytes: [UInt8]?) {
        if let bytes { contents.insert(SHA256.hash(data: bytes)) }
    }

    private func read(_ path: String) -> [UInt8]? { Self.read(path) }

    static func read(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { Array($0) } }
}

extension Ledger {
    /// All that is wrong with a container nobody has mounted, after whatever happened to it.
    mutating func verify(_ path: String, after ending: Ending, totals: inout Totals) throws -> [String] {
        let inspection = try Inspection(path, after: ending)
        var problems = inspection.problems
        totals.unfinished += inspection.unfinished
        totals.versions += inspection.versions
        // A file that nobody touched since it was renamed unseen is an item of its own, recorded when that happens.
        let live = files.keys.reduce(into: [String: [UInt8]]()) { $0[$1] = Inspection.read("\(path)/\($1)") }
        let digests = Set(live.values.map { SHA256.hash(data: $0) })
        for file in files.keys.sorted() {
            let found = live[file]
            let (problem, content) = judge(file, found, ending)
            if let problem { problems.append(problem) }
            for saved in saved[file] ?? [] where ending == .kill || saved.isSynced {
                totals.contents += 1
                let digest = Self.digest(of: saved.content)
                if inspection.contents.contains(digest) || digests.contains(digest) { continue }
                // What was appended to is the beginning of the file still.
                if ending == .powerCut, try Inspection.isBeginning(saved.content.bytes, in: path) { continue }
                let isNameless = inspection.nameless.contains(digest)
                if isNameless, saved.isNameless || ending == .powerCut { continue }
                let whereabouts = isNameless ? "belongs to an item without a name" : "is not among the versions"
                problems.append("\(saved.action) \(saved.content) of \(file) was saved and \(whereabouts)")
            }
            settle(file, on: content, found)
        }
        return problems
    }
}

extension Ledger {
    private static let digests = Mutex<[Content: SHA256.Digest]>([:])

    fileprivate static func digest(of content: Content) -> SHA256.Digest {
        if let known = digests.withLock({ $0[content] }) { return known }
        let digest = SHA256.hash(data: content.bytes)
        digests.withLock { $0[content] = digest }
        return digest
    }
}

/// What a test has looked at.
struct Totals {
    var crashes = 0
    var contents = 0
    var versions = 0
    var unfinished = 0
    var survivors = 0

    mutating func add(_ other: Totals) {
        crashes += other.crashes
        contents += other.contents
        versions += other.versions
        unfinished += other.unfinished
        survivors += other.survivors
    }
}
