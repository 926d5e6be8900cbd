// Names that other programs have changed below the mount while it is in use.

import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// Has the facts follow the disk at a place where the two differ, as settling does at a mount (``MountSettling``).
struct ChangedBelow: Sendable {
    let tree: LiveTree
    let facts: FactStore
    let engine: Engine
    let files: FilesInReach
    let kept: KeptObjects
    let logger: Logger

    /// The name of a place is settled, with all that was in a directory that is nowhere any more, and the name that the
    /// former file may have in the same directory by now. No lock is held.
    /// - Throws: ESTALE if the names have changed once more meanwhile.
    func settle(_ place: PlaceNumber) throws(Errno) {
        guard try differs(at: place) else { return }
        var held: Subjects = []
        defer { engine.subjects.giveBack(held) }
        while true {
            let (marked, gone) = try differences(at: place)
            let settling = MountSettling(parts(gone), marked, crashed: nil)
            let unpublished = try unpublished(settling)
            if !unpublished.isEmpty {
                engine.subjects.giveBack(held)
                held = []
                for row in unpublished { try engine.publish(row) }
                continue
            }
            let needed = try settling.subjects()
            guard needed.isSubset(of: held) else {
                engine.subjects.giveBack(held)
                held.formUnion(needed)
                engine.subjects.take(held)
                continue
            }
            guard try settling.run().left.marks.isEmpty else { throw Errno(rawValue: ESTALE) }
            // Their facts tell more by now than memory.
            for file in held.files { _ = engine.scene.forget(file) }
            return
        }
    }

    /// Whether the facts and the disk differ at a place. A request that has seen only one of another request's changes
    /// has seen no difference: both are made with the names held alone.
    private func differs(at place: PlaceNumber) throws(Errno) -> Bool {
        let disk = SettledTree(tree, facts: facts, found: FilesInReach())
        return try engine.names.reading { () throws(Errno) in
            let (what, known) = (try disk.look(at: place), try engine.occupant(of: place))
            return what == .unknown || what.file != known
        }
    }

    /// The names among these that programs have made up: the catalog, which settling goes by, does not have them.
    private func unpublished(_ settling: MountSettling) throws(Errno) -> [NameRow] {
        let (places, files) = try settling.reach()
        return engine.known.unpublishedNames.filter { row in
            places.contains(row.place) || row.file.map(files.contains) ?? false
        }
    }

    private func parts(_ gone: Set<FileID>) -> MountSettling.Parts {
        let found = FilesInReach()
        found.connect { [files] in files.inReach($0) }
        let disk = SettledTree(tree, facts: facts, found: found, gone: gone)
        let recorder = RememberingRecorder(engine)
        var parts = MountSettling.Parts(
            disk: disk, kept: kept, recorder: recorder, log: { [facts] in facts.facts() }, clock: engine.parts.clock,
            logger: logger)
        parts.removed = { [facts] (row) throws(Errno) in try facts.removalBelow(of: row) }
        parts.mayBeNameless = true
        parts.holding = { [engine] (found, former, record) throws(Errno) in
            try engine.names.writing { (_) throws(Errno) in
                for (place, what) in found {
                    // A name that was made up, and is gone, is no row of the catalog.
                    let (now, known) = (try disk.look(at: place), try engine.occupant(of: place))
                    guard now == what, known == former.occupant(of: place)?.file else {
                        throw Errno(rawValue: ESTALE)
                    }
                }
                try record()
            }
        }
        return parts
    }

    // MARK: What may differ

    private func differences(at place: PlaceNumber) throws(Errno) -> (MountSettling.Marked, gone: Set<FileID>) {
        var (marked, gone) = (MountSettling.Marked(places: [place]), Set<FileID>())
        let (log, disk) = (facts.facts(), SettledTree(tree, facts: facts, found: FilesInReach()))
        guard let former = log.lastRow(at: place), let file = former.file,
            let spot = try disk.place(place), let directory = try disk.directory(spot.directory, depth: 0)
        else { return (marked, gone) }
        for entry in try Backing.list(directory.raw) {
            guard let stat = try Backing.statIfPresent(entry.name.bytes, in: directory.raw), tree.fileID(stat) == file
            else { continue }
            do throws(StoreError) {
                marked.places.insert(try facts.number(of: Place(directory: spot.directory, name: entry.name)))
            } catch { throw .ioError }
            return (marked, gone)
        }
        var left = former.hasNoVersions ? [file] : []
        while let next = left.popLast() {
            guard try disk.directory(next, depth: 0) == nil else { continue }
            gone.insert(next)
            for row in log.names(in: next) {
                marked.places.insert(row.place)
                if row.hasNoVersions, let file = row.file, !gone.contains(file) { left.append(file) }
            }
        }
        guard log.failure == nil else { throw .ioError }
        return (marked, gone)
    }
}

/// Records what is settled while the engine goes on, which remembers it.
private struct RememberingRecorder: FactRecorder {
    private let recorder: any FactRecorder
    private let known: FactMemory

    init(_ engine: Engine) { (recorder, known) = (engine.parts.recorder, engine.known) }

    var log: any FactLog { recorder.log }
    func isSound(_ log: any FactLog) -> Bool { recorder.isSound(log) }
    func reserve(_ count: UInt64) -> UInt64 { recorder.reserve(count) }
    func finish(_ first: UInt64) { recorder.finish(first) }
    func describe(_ facts: [Fact]) { recorder.describe(facts) }

    func commit(_ told: FactTransaction, from first: UInt64, last: UInt64) {
        known.record(told.facts)
        recorder.commit(told, from: first, last: last)
    }
}
