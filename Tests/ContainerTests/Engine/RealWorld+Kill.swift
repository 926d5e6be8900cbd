// A kill in the middle of what a world does, and the mount that follows.

import Foundation
import Glibc
import Lineage
import LineageWorlds
import Logging
import Synchronization
import SystemPackage
import VersionModel

@testable import Container

extension RealWorld {
    /// A moment of an event at which the process is killed.
    enum Moment: CaseIterable {
        case beforeTheCall, behindTheCall
        /// Before the next event.
        case between
    }

    func die(_ moment: Moment) throws(Errno) {
        let dies = state.withLock { state in
            guard state.dies == moment else { return false }
            state.isDead = true
            return true
        }
        if dies { throw .ioError }
    }

    /// Has an engine do the first events of a world, kills it in the last of them, and settles what it has left.
    /// - Returns: what does not hold then.
    func settle(_ performed: [World.Performed], killedIn count: Int, _ moment: Moment) throws -> String? {
        let engine = engine()
        var disk = Disk()
        for (index, step) in performed.prefix(count).enumerated() {
            let isLast = index == count - 1
            state.withLock { ($0.now, $0.kin) = (step.now, step.kin) }
            guard let event = step.event else {
                write(step)
                disk = step.disk
                continue
            }
            if isLast, !step.isRefused { state.withLock { $0.dies = moment } }
            let plan: Plan?
            do { plan = try carryOut(renumbered(event), step, engine) } catch {
                guard state.withLock(\.isDead) else { throw error }
                if moment != .beforeTheCall { disk = step.disk }
                break
            }
            disk = step.disk
            note(step, plan)
            if state.withLock(\.isOver) { return nil }
        }
        state.withLock { $0.disk = disk }
        return try settled()
    }

    private func settled() throws -> String? {
        let (crashed, left) = state.withLock { state in
            (state.isDead, state.dies) = (false, nil)
            let crashed = state.now
            state.now = state.now.advanced(byNanoseconds: 5_000_000_000)
            state.next += 1000
            return (crashed, state.marks.filter { $0.value > 0 }.keys)
        }
        var marked = MountSettling.Marked()
        for mark in left {
            switch mark {
            case .place(let place): marked.places.insert(place)
            case .file(let file): marked.files.insert(file)
            case .content(let content): marked.contents.insert(content)
            }
        }
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let parts = MountSettling.Parts(
            disk: self, kept: self, recorder: self, log: { [self] in ListedFacts(recorded: state.withLock(\.told)) },
            clock: self, logger: logger)
        let before = state.withLock(\.told.count)
        try MountSettling(parts, marked, crashed: crashed).run()
        if let problem = problem() {
            let (told, disk) = state.withLock { ($0.told, $0.disk) }
            let words = "\(problem)\nmarked: \(marked)\ndisk: \(disk)"
            return "\(words)\nfacts: \(told[..<before])\nsettled: \(told[before...])"
        }
        let again = try MountSettling(parts, marked, crashed: crashed).run().facts
        return again > 0 ? "the next mount settles more: \(state.withLock(\.told).suffix(again))" : nil
    }

    // MARK: What must hold

    private func problem() -> String? {
        let (told, disk) = state.withLock { ($0.told, $0.disk) }
        let log = ListedFacts(recorded: told)
        let places = Set(told.compactMap { if case .row(let row) = $0 { row.place } else { nil } })
        for place in places.union(disk.names.map(\.place)).sorted() {
            let (there, recorded) = (disk.file(at: place), log.lastRow(at: place)?.file)
            if there != recorded {
                return "\(place): \(String(describing: there)), by the facts \(String(describing: recorded))"
            }
        }
        let facts = Facts(told: told)
        for name in disk.names {
            guard let row = facts.occupant(of: name.place), disk[name.file] != nil else { continue }
            let bytes = hashed(live(name.file) ?? [])
            let current = facts.current(of: row.document).flatMap { facts.fingerprint($0) }
            if current != bytes, !(current == nil && bytes == .empty) {
                return "\(name.place) is not what its document shows"
            }
            for other in facts.names(of: row.document) where other.file != row.file {
                return "\(row.document) is at \(row.place) and at \(other.place)"
            }
        }
        for version in facts.versions where !version.isForgotten && isLost(version, disk) {
            return "\(version) is lost"
        }
        let missing = whole(facts, disk)
        return missing.isEmpty ? nil : "not all is settled: \(missing)"
    }

    private func live(_ file: FileID) -> [UInt8]? { state.withLock { $0.files[file] }.map { bytes($0.raw) } }

    /// Whether a version's bytes are nowhere. What was in a file without a name has gone with the process.
    private func isLost(_ version: VersionRow, _ disk: Disk) -> Bool {
        let kept = FileManager.default.contents(atPath: object(version.content)).map { Array($0) }
        if kept == nil, !disk.hasName(version.content.file) { return false }
        guard let found = kept ?? live(version.content.file) else { return true }
        return hashed(Array(found.prefix(Int(version.fingerprint.size)))) != version.fingerprint
    }

    /// What settling would add that looks at everything. Objects of names that were thrown away tell nothing.
    private func whole(_ facts: Facts, _ disk: Disk) -> [Fact] {
        let objects = state.withLock(\.labels).filter { access(object($0.key), F_OK) == 0 }.map { content, labels in
            Lineage.Found.Object(content: content, labels: labels.filter { facts[$0.version.number] != nil })
        }
        let named = disk.files.filter { disk.hasName($0.id) }
        let found = Lineage.Found(
            names: disk.names, directories: disk.directories,
            files: named.map {
                Lineage.Found.File(id: $0.id, fingerprint: hashed(live($0.id) ?? []), modified: $0.modified)
            },
            objects: objects.sorted {
                ($0.content.file, $0.content.generation) < ($1.content.file, $1.content.generation)
            },
            begins: { [self] file, bytes in hashed(Array((live(file.id) ?? []).prefix(Int(bytes.size)))) == bytes })
        let scene = Scene(facts: facts, memory: Memory(), now: now(), nextNumber: facts.lastNumber + 1)
        // An empty file that was never saved needs no version.
        return Settling.settle(scene, found, crashed: now()).facts.filter { fact in
            if case .version(let version) = fact { return !version.fingerprint.isEmpty }
            return true
        }
    }
}

extension RealWorld: Marks {
    func add(_ mark: Mark) { state.withLock { if !$0.isDead { $0.marks[mark, default: 0] += 1 } } }
    func remove(_ mark: Mark) { state.withLock { if !$0.isDead { $0.marks[mark, default: 0] -= 1 } } }
}

extension RealWorld: SettledDisk {
    func look(at place: PlaceNumber) throws(Errno) -> PlaceFound {
        let disk = state.withLock(\.disk)
        guard let file = disk.file(at: place) else { return .nothing }
        return disk.directories.contains(file) ? .other(file) : .file(file)
    }
}

extension RealWorld: SettledContents {
    func labels(of content: Content) throws(Errno) -> [Label] { state.withLock { $0.labels[content] } ?? [] }
}

extension ListedFacts: SettlingLog {}
