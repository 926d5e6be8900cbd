// A directory in which an engine follows a world of Lineage, event by event.

import CLinux
import Foundation
import Glibc
import Lineage
import LineageWorlds
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

@testable import Container

/// The files of a world, each under the path of its place, and the contents that are kept of them.
final class RealWorld: Sendable {
    struct State {
        var files: [FileID: SharedDescriptor] = [:]
        var directories: [FileID: String]
        var now = Timestamp(nanoseconds: 0)
        var kin = Kin()
        var told: [Fact] = []
        var next: UInt64 = 1
        /// The engine's numbers for those of the world.
        var numbers: [UInt64: UInt64] = [:]
        /// After a refused call the world has kept a copy that the engine has not, or has facts that are not seen here.
        var isOver = false
        var hashes: [[UInt8]: Fingerprint] = [:]
        /// What the kept contents say of themselves, as it was when they were kept last.
        var labels: [Content: [Label]] = [:]
        var marks: [Mark: Int] = [:]
        /// When the process is killed; what comes then is not done.
        var dies: Moment?
        var isDead = false
        /// The disk of the world, when it is killed.
        var disk = Disk()
    }

    let root: String
    let state: Mutex<State>

    init(_ root: String) {
        self.root = root
        state = Mutex(State(directories: [.root: root]))
        mkdir(root + "/objects", 0o700)
    }

    /// Has an engine do what was done in a world.
    /// - Returns: the first difference.
    func follow(_ performed: [World.Performed], forgets: (Int) -> Bool = { _ in false }) throws -> String? {
        let engine = engine()
        for (index, step) in performed.enumerated() {
            state.withLock { ($0.now, $0.kin) = (step.now, step.kin) }
            guard let event = step.event else {
                write(step)
                continue
            }
            let plan: Plan?
            do { plan = try carryOut(renumbered(event), step, engine) } catch {
                return "step \(index + 1) of \(performed.count), \(event): \(error)"
            }
            note(step, plan)
            if state.withLock(\.isOver) { return nil }
            if forgets(index) {
                engine.scene.forgetIdleFiles()
                engine.known.trim(now: step.now, open: engine.scene.openFiles, recent: index % 4)
                if let problem = wrongFact(engine) { return "step \(index + 1): \(problem)" }
            }
            if let problem = difference(plan, step) ?? lostVersion(engine) {
                return "step \(index + 1) of \(performed.count), \(event): \(problem)"
            }
        }
        return nil
    }

    func engine() -> Engine {
        let parts = Engine.Parts(files: self, kept: self, recorder: self, clock: self, marks: self) { [self] _ in
            state.withLock(\.kin)
        }
        return Engine(parts, names: ReadWriteLock())
    }

    // MARK: Events

    /// - Returns: nil if the call was refused.
    func carryOut(_ event: Event, _ step: World.Performed, _ engine: Engine) throws -> Plan? {
        for case .make(let file, let version) in step.plan.before { try make(file, version?.modified) }
        do throws(Errno) {
            if step.changesNames {
                return try engine.performOnNames(event, found(step)) { (_, whole) throws(Errno) in
                    try call(step, whole)
                }
            }
            return try engine.perform(event, found(step)) { () throws(Errno) in try call(step, nil) }
        } catch {
            guard step.isRefused, error == .ioError else { throw error }
            return nil
        }
    }

    /// Facts have other numbers than in the world, in the same order.
    func note(_ step: World.Performed, _ plan: Plan?) {
        let expected = (step.isRefused ? step.plan.refusal?.facts : step.plan.facts) ?? []
        // Of a refused call only the facts that everyone sees are known here.
        if plan == nil, !expected.isEmpty { state.withLock { $0.isOver = true } }
        let recorded = plan?.facts ?? []
        for (one, other) in zip(expected, recorded) {
            guard let number = one.recordedNumber, let own = other.recordedNumber else { continue }
            state.withLock { ($0.numbers[number], $0.next) = (own, max($0.next, own + 1)) }
        }
    }

    func renumbered(_ number: UInt64) -> UInt64 { state.withLock { $0.numbers[number] } ?? number }

    private func found(_ step: World.Performed) -> [FileAtPlace] { [] }

    private func call(_ step: World.Performed, _ whole: WholeContent?) throws(Errno) {
        try die(.beforeTheCall)
        try make(step, whole)
        try die(.behindTheCall)
    }

    private func make(_ step: World.Performed, _ whole: WholeContent?) throws(Errno) {
        if step.isRefused {
            state.withLock { $0.isOver = whole != nil }
            throw .ioError
        }
        guard let point = step.plan.point else { return }
        switch point {
        case .open: break
        case .create(let place, let file):
            let made = try Backing.open(path: path(place), in: AT_FDCWD, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            state.withLock { $0.files[file] = SharedDescriptor(made) }
            write(step)
        case .write, .truncate: write(step)
        case .rename(let from, let to):
            try setAside(at: to, whole)
            try Backing.check { Glibc.rename(path(from), path(to)) }
            moveDirectory(at: to, step)
        case .exchange(let one, let other):
            try Backing.rename(
                Array(path(one).utf8), in: AT_FDCWD, to: Array(path(other).utf8), in: AT_FDCWD,
                flags: linux_RENAME_EXCHANGE)
            for place in [one, other] { moveDirectory(at: place, step) }
        case .link(let from, let to): try Backing.check { Glibc.link(path(from), path(to)) }
        case .unlink(let place):
            try setAside(at: place, whole)
            try Backing.check { Glibc.unlink(path(place)) }
        case .makeDirectory(let place, let directory):
            let path = path(place)
            try Backing.check { mkdir(path, 0o700) }
            state.withLock { $0.directories[directory] = path }
        case .removeDirectory(let place): try Backing.check { rmdir(path(place)) }
        case .name(let file, let place):
            try setAside(at: place, whole)
            let staged = root + "/staged"
            try name(file, staged)
            if let made = state.withLock({ $0.files[file] }) { setTime(made.raw, step.disk[file]?.modified) }
            try Backing.check { Glibc.rename(staged, path(place)) }
        }
    }

    /// A file that is about to lose its name: one that is kept whole is an object, others stay in reach of handles.
    private func setAside(at place: PlaceNumber, _ whole: WholeContent?) throws(Errno) {
        if let whole {
            try Backing.check { Glibc.link(path(place), object(whole.content)) }
            state.withLock { $0.labels[whole.content] = whole.labels }
            return
        }
        guard let status = try? Backing.stat(path: path(place), in: AT_FDCWD), status.isRegular, status.links == 1
        else { return }
        let files = state.withLock(\.files)
        let file = files.first { (try? Backing.stat($0.value.raw))?.key == status.key }
        guard let file = file?.key, access(held(file), F_OK) != 0 else { return }
        try Backing.check { Glibc.link(path(place), held(file)) }
    }

    private func held(_ file: FileID) -> String { "\(root)/held-\(file.number)" }

    private func name(_ file: FileID, _ path: String) throws(Errno) {
        if Glibc.rename(held(file), path) == 0 { return }
        guard let descriptor = state.withLock({ $0.files[file] }) else { throw .noSuchFileOrDirectory }
        let own = "/proc/self/fd/\(descriptor.raw)"
        try Backing.check { linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) }
    }

    private func make(_ file: FileID, _ modified: Timestamp?) throws(Errno) {
        let made = try Backing.open(path: root, in: AT_FDCWD, flags: linux_O_TMPFILE | O_RDWR, mode: 0o600)
        state.withLock { $0.files[file] = SharedDescriptor(made) }
        setTime(made, modified)
    }

    /// The files have the bytes that the world's have now, and its times.
    func write(_ step: World.Performed) {
        for file in step.disk.files {
            guard let descriptor = state.withLock({ $0.files[file.id] }) else { continue }
            if modified(descriptor) == file.modified { continue }
            var bytes = file.content.bytes
            ftruncate(descriptor.raw, off_t(bytes.count))
            pwrite(descriptor.raw, &bytes, bytes.count, 0)
            setTime(descriptor.raw)
        }
    }

    private func modified(_ file: SharedDescriptor) -> Timestamp? { (try? Backing.stat(file.raw))?.modified }

    private func setTime(_ file: Int32, _ modified: Timestamp? = nil) {
        let time = (modified ?? state.withLock(\.now)).timespec
        _ = withUnsafePointer(to: (time, time)) { pair in
            pair.withMemoryRebound(to: timespec.self, capacity: 2) { futimens(file, $0) }
        }
    }

    private func moveDirectory(at place: PlaceNumber, _ step: World.Performed) {
        guard let file = step.disk.file(at: place) else { return }
        let path = path(place)
        state.withLock { state in if state.directories[file] != nil { state.directories[file] = path } }
    }

    private func path(_ place: PlaceNumber) -> String {
        let directory = state.withLock { $0.directories[FileID(UInt64(place.number / 8))] } ?? "/nowhere"
        return "\(directory)/\(place.number % 8)"
    }

    func object(_ content: Content) -> String { "\(root)/objects/\(content.file.number)-\(content.generation)" }

    // MARK: Differences

    private func difference(_ plan: Plan?, _ step: World.Performed) -> String? {
        let facts = (step.isRefused ? step.plan.refusal?.facts : step.plan.facts) ?? []
        // A file that was forgotten may have another generation, or its bytes in itself and not in one that is equal.
        let expected = facts.map { real($0).withoutContent }
        if let plan, plan.facts.map(\.withoutContent) != expected {
            return "it has recorded \(plan.facts), not \(expected)"
        }
        for file in step.disk.files {
            let found = state.withLock { $0.files[file.id] }.map { bytes($0.raw) }
            if found != file.content.bytes { return "\(file.id) has \(found ?? []), not \(file.content.bytes)" }
        }
        for name in step.disk.names {
            var status = stat()
            if lstat(path(name.place), &status) != 0 { return "\(name.place) is not there" }
        }
        return nil
    }

    /// A question that the engine's facts answer differently than all that was recorded.
    private func wrongFact(_ engine: Engine) -> String? {
        let listed = ListedFacts(recorded: state.withLock(\.told))
        let known = FactMemoryTests.Loading(memory: FactMemory(engine.known), catalog: listed)
        return listed.differences(from: known).first
    }

    /// A version that everyone sees and whose bytes are not where it says. A handle may be amending its own.
    private func lostVersion(_ engine: Engine) -> String? {
        let handles = engine.scene.whole.handles
        let told = state.withLock(\.told)
        let facts = ListedFacts(recorded: told)
        for case .version(let recorded) in told {
            guard let version = facts.version(recorded.number), !version.isForgotten,
                !handles.contains(where: { $0.saved == version.number })
            else { continue }
            let kept = FileManager.default.contents(atPath: object(version.content)).map { Array($0) }
            let live = state.withLock { $0.files[version.content.file] }.map { bytes($0.raw) }
            guard let found = kept ?? live else { return "\(version) is nowhere" }
            let size = version.fingerprint.size
            if hashed(Array(found.prefix(Int(size)))) != version.fingerprint { return "\(version) is lost: \(found)" }
        }
        return nil
    }

    func bytes(_ file: Int32) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = pread(file, &buffer, 64, 0)
        return Array(buffer.prefix(max(0, count)))
    }

    /// A fact of the world with the fingerprints of real bytes.
    private func real(_ fact: Fact) -> Fact {
        switch fact {
        case .row(let row): .row(real(row))
        case .version(let version): .version(real(version))
        case .amend(let version): .amend(real(version))
        case .settle(let version): .settle(real(version))
        case .forget(let version): .forget(real(version))
        case .publish(let row): .publish(RowNumber(renumbered(row.number)))
        case .purge(let row): .purge(RowNumber(renumbered(row.number)))
        }
    }

    private func real(_ row: NameRow) -> NameRow {
        var row = row
        row.number = RowNumber(renumbered(row.number.number))
        if case .movedAway(let target?) = row.how { row.how = .movedAway(to: RowNumber(renumbered(target.number))) }
        row.from = row.from.map { RowNumber(renumbered($0.number)) }
        row.document = DocumentNumber(renumbered(row.document.number))
        row.origin = row.origin.map { VersionNumber(renumbered($0.number)) }
        return row
    }

    private func real(_ number: VersionNumber) -> VersionNumber { VersionNumber(renumbered(number.number)) }

    private func real(_ version: VersionRow) -> VersionRow {
        var version = version
        version.number = real(version.number)
        version.row = RowNumber(renumbered(version.row.number))
        version.base = version.base.map(real)
        version.parents = Parents(version.parents.first.map(real), version.parents.second.map(real))
        version.loser = version.loser.map(real)
        version.fingerprint = real(version.fingerprint)
        return version
    }

    private func real(_ content: Fingerprint) -> Fingerprint {
        hashed(content.bytes)
    }

    func hashed(_ bytes: [UInt8]) -> Fingerprint {
        if let known = state.withLock({ $0.hashes[bytes] }) { return known }
        let path = root + "/hashed"
        try? Data(bytes).write(to: URL(filePath: path))
        guard let file = try? Backing.open(path: path, in: AT_FDCWD, flags: O_RDONLY) else { return .empty }
        defer { close(file) }
        let size = UInt64(bytes.count)
        let found = Fingerprint(hash: ContentHash.sha256(of: file, size: size) ?? [], size: size)
        state.withLock { $0.hashes[bytes] = found }
        return found
    }
}

extension World.Performed {
    var changesNames: Bool {
        switch plan.point {
        case .create, .rename, .exchange, .link, .unlink, .makeDirectory, .removeDirectory, .name: true
        case .open, .write, .truncate, nil: false
        }
    }
}

extension RealWorld: FilesBelow {
    func status(of file: FileID) throws(Errno) -> FileStat? {
        guard let descriptor = state.withLock({ $0.files[file] }) else { return nil }
        return try Backing.stat(descriptor.raw)
    }

    func open(_ file: FileID) throws(Errno) -> SharedDescriptor {
        guard let descriptor = state.withLock({ $0.files[file] }) else { throw .noSuchFileOrDirectory }
        return descriptor
    }

    func forget(_ file: FileID) {
        if state.withLock(\.isDead) { return }
        state.withLock { $0.files[file] = nil }
        unlink(held(file))
    }
}

extension RealWorld: KeptContents {
    func size(of content: Content) -> UInt64? { (try? Backing.stat(path: object(content), in: AT_FDCWD))?.size }

    func keep(copying file: Int32, as content: Content, _ labels: [Label], isDurable: Bool) throws(Errno) {
        let copy = try Backing.open(
            path: object(content), in: AT_FDCWD, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        defer { close(copy) }
        var bytes = bytes(file)
        pwrite(copy, &bytes, bytes.count, 0)
        state.withLock { $0.labels[content] = labels }
    }

    func mayKeep(size: UInt64) -> Bool { true }
    func room(for size: UInt64) -> UInt64 { size }
    func drop(_ content: Content) { if !state.withLock(\.isDead) { unlink(object(content)) } }

    func copy(_ content: Content, size: UInt64, to file: FileID, isDurable: Bool) throws(Errno) {
        let source = try Backing.open(path: object(content), in: AT_FDCWD, flags: O_RDONLY)
        try copy(SharedDescriptor(source), size: size, to: file, isDurable: isDurable)
    }

    func copy(_ source: SharedDescriptor, size: UInt64, to file: FileID, isDurable: Bool) throws(Errno) {
        var bytes = Array(bytes(source.raw).prefix(Int(size)))
        pwrite(try open(file).raw, &bytes, bytes.count, 0)
        setTime(try open(file).raw)
    }
}
