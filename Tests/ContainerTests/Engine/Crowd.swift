// A directory with few names that several programs use at once, over an engine.

import CLinux
import Foundation
import Glibc
import Lineage
import LineageWorlds
import Support
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

@testable import Container

/// A directory with few names in which threads save, rename, exchange, link and remove files.
final class Crowd: Sendable {
    private struct State {
        var files: [FileID: SharedDescriptor] = [:]
        var next: UInt64 = 1
        var nextHandle: UInt32 = 1
        var told: [Fact] = []
        var acknowledged: [[UInt8]] = []
        var failures: [String] = []
    }

    private let root: String
    private let state = Mutex(State())
    /// What fails once a content is copied.
    let behindCopy = Mutex<(@Sendable () throws(Errno) -> Void)?>(nil)

    init(_ root: String) {
        self.root = root
        mkdir(root + "/objects", 0o700)
    }

    /// - Parameter files: how it looks at the files.
    func engine(_ files: (any FilesBelow)? = nil) -> Engine {
        let parts = Engine.Parts(files: files ?? self, kept: self, recorder: self, clock: SystemClock()) { _ in Kin() }
        return Engine(parts, names: ReadWriteLock())
    }

    private func path(_ place: PlaceNumber) -> String { "\(root)/\(place.number)" }

    private func object(_ content: Content) -> String { "\(root)/objects/\(content.file.number)-\(content.generation)" }

    // MARK: What threads do

    func act(_ engine: Engine, _ thread: Int, _ step: Int, _ dice: inout SeededGenerator) {
        let actor = ActorNumber(UInt32(thread))
        let one = PlaceNumber(UInt32.random(in: 1...4, using: &dice))
        let other = PlaceNumber(UInt32.random(in: 1...4, using: &dice))
        do throws(Errno) {
            switch Int.random(in: 0..<10, using: &dice) {
            case 0: try remove(engine, actor, one)
            case 1, 2: if one != other { try rename(engine, actor, one, other) }
            case 3:
                guard one != other else { return }
                try engine.performOnNames(.exchange(actor, one, other)) { (_, _) throws(Errno) in
                    let (old, new) = (Array(path(one).utf8), Array(path(other).utf8))
                    try Backing.rename(old, in: AT_FDCWD, to: new, in: AT_FDCWD, flags: linux_RENAME_EXCHANGE)
                }
            case 4:
                guard one != other else { return }
                try link(engine, actor, one, other)
            default: try save(engine, actor, one, "\(thread).\(step)", &dice)
            }
        } catch {
            let expected: [Errno] = [.noSuchFileOrDirectory, .fileExists, Errno(rawValue: ESTALE)]
            if !expected.contains(error) { state.withLock { $0.failures.append("\(error)") } }
        }
    }

    func remove(_ engine: Engine, _ actor: ActorNumber, _ place: PlaceNumber) throws(Errno) {
        try engine.performOnNames(.unlink(actor, place)) { (_, whole) throws(Errno) in
            try setAside(place, whole)
            try Backing.check { unlink(path(place)) }
        }
    }

    private func rename(
        _ engine: Engine, _ actor: ActorNumber, _ one: PlaceNumber, _ other: PlaceNumber
    ) throws(Errno) {
        try engine.performOnNames(.rename(actor, from: one, to: other, isMadeUp: false)) { (_, whole) throws(Errno) in
            let source = try Backing.stat(path: path(one), in: AT_FDCWD)
            let target = try? Backing.stat(path: path(other), in: AT_FDCWD)
            if let target, target.key != source.key { try setAside(other, whole) }
            try Backing.check { Glibc.rename(path(one), path(other)) }
        }
    }

    private func save(
        _ engine: Engine, _ actor: ActorNumber, _ place: PlaceNumber, _ text: String, _ dice: inout SeededGenerator
    ) throws(Errno) {
        let opened: Opened
        do throws(Errno) { opened = try create(engine, actor, place) } catch {
            guard error == .fileExists else { throw error }
            opened = try empty(engine, actor, place, isUnseen: Bool.random(using: &dice))
        }
        try write(engine, opened, text)
        try close(engine, opened, text)
    }

    // MARK: What one program does

    /// A handle, and the file that it has open.
    struct Opened {
        var handle: HandleNumber
        var file: FileID
    }

    func create(_ engine: Engine, _ actor: ActorNumber, _ place: PlaceNumber) throws(Errno) -> Opened {
        let made = try Backing.open(path: root, in: AT_FDCWD, flags: linux_O_TMPFILE | O_RDWR, mode: 0o600)
        let opened = Opened(handle: nextHandle(), file: FileID((try Backing.stat(made)).key.inode))
        state.withLock { $0.files[opened.file] = SharedDescriptor(made) }
        let create = Event.create(
            actor, place, opened.file, opened.handle, .replace, isMadeUp: false, isUnseen: false)
        try engine.performOnNames(create) { (_, _) throws(Errno) in
            try Backing.check {
                linkat(AT_FDCWD, "/proc/self/fd/\(made)", AT_FDCWD, path(place), AT_SYMLINK_FOLLOW)
            }
        }
        return opened
    }

    func empty(
        _ engine: Engine, _ actor: ActorNumber, _ place: PlaceNumber, isUnseen: Bool = false
    ) throws(Errno) -> Opened {
        let file = FileID((try Backing.stat(path: path(place), in: AT_FDCWD)).key.inode)
        let (opened, raw) = (Opened(handle: nextHandle(), file: file), try open(file).raw)
        let open = Event.open(actor, place, opened.handle, .replace, isUnseen: isUnseen)
        try engine.perform(open, [FileAtPlace(place: place, file: file)]) { () throws(Errno) in
            try Backing.check { ftruncate(raw, 0) }
        }
        return opened
    }

    func write(_ engine: Engine, _ opened: Opened, _ text: String) throws(Errno) {
        var bytes = Array(text.utf8)
        let raw = try open(opened.file).raw
        try engine.perform(.write(opened.handle)) { () throws(Errno) in
            _ = try Backing.check { pwrite(raw, &bytes, bytes.count, 0) }
        }
    }

    func close(_ engine: Engine, _ opened: Opened, _ text: String) throws(Errno) {
        let bytes = Array(text.utf8)
        let closed = try engine.perform(.close(opened.handle))
        for case .version(let version) in closed.facts where version.fingerprint == fingerprint(bytes) {
            state.withLock { $0.acknowledged.append(bytes) }
        }
        try engine.perform(.release(opened.handle))
    }

    func link(_ engine: Engine, _ actor: ActorNumber, _ one: PlaceNumber, _ other: PlaceNumber) throws(Errno) {
        try engine.performOnNames(.link(actor, from: one, to: other)) { (_, _) throws(Errno) in
            try Backing.check { Glibc.link(path(one), path(other)) }
        }
    }

    private func nextHandle() -> HandleNumber {
        state.withLock { state in
            defer { state.nextHandle += 1 }
            return HandleNumber(state.nextHandle)
        }
    }

    private func setAside(_ place: PlaceNumber, _ whole: WholeContent?) throws(Errno) {
        guard let whole else { return }
        do throws(Errno) { try Backing.check { Glibc.link(path(place), object(whole.content)) } } catch {
            state.withLock { $0.failures.append("\(whole.content) cannot be kept: \(error)") }
            throw error
        }
    }

    // MARK: What must hold

    func problems() -> [String] {
        let (facts, failures, acknowledged) = state.withLock { state in
            (ListedFacts(recorded: state.told), state.failures, state.acknowledged)
        }
        var problems = failures
        for number in UInt32(1)...4 {
            let place = PlaceNumber(number)
            let found = (try? Backing.stat(path: path(place), in: AT_FDCWD)).map { FileID($0.key.inode) }
            let known = facts.lastRow(at: place)?.file
            if found != known {
                problems.append("\(place) has \(String(describing: found)), not \(String(describing: known))")
            }
        }
        let versions = state.withLock { state in
            state.told.compactMap { fact in if case .version(let version) = fact { version.number } else { nil } }
        }.compactMap(facts.version)
        for version in versions where !version.isForgotten {
            let bytes = bytes(of: version)
            if bytes.map(fingerprint) != version.fingerprint {
                let isKept = size(of: version.content) != nil
                let found = bytes.map { String(decoding: $0, as: UTF8.self) } ?? "no content"
                problems.append("\(version) has \(found), \(isKept ? "kept" : "in its file")")
            }
        }
        for bytes in acknowledged where !versions.contains(where: { $0.fingerprint == fingerprint(bytes) }) {
            problems.append("\(String(decoding: bytes, as: UTF8.self)) was acknowledged, and is no version")
        }
        return problems
    }

    private func bytes(of version: VersionRow) -> [UInt8]? {
        let size = Int(version.fingerprint.size)
        if let kept = FileManager.default.contents(atPath: object(version.content)) { return Array(kept.prefix(size)) }
        guard let file = state.withLock({ $0.files[version.content.file] }) else { return nil }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = pread(file.raw, &buffer, 64, 0)
        return Array(buffer.prefix(min(size, max(0, count))))
    }

    private func fingerprint(_ bytes: [UInt8]) -> Fingerprint {
        if bytes.isEmpty { return .empty }
        let file = linux_memfd_create("bytes")
        defer { Glibc.close(file) }
        var bytes = bytes
        pwrite(file, &bytes, bytes.count, 0)
        let size = UInt64(bytes.count)
        return Fingerprint(hash: ContentHash.sha256(of: file, size: size) ?? [], size: size)
    }
}

extension Crowd: FilesBelow {
    func status(of file: FileID) throws(Errno) -> FileStat? {
        guard let descriptor = state.withLock({ $0.files[file] }) else { return nil }
        return try Backing.stat(descriptor.raw)
    }

    func open(_ file: FileID) throws(Errno) -> SharedDescriptor {
        guard let descriptor = state.withLock({ $0.files[file] }) else { throw .noSuchFileOrDirectory }
        return descriptor
    }

    func forget(_ file: FileID) {}
}

extension Crowd: KeptContents {
    func size(of content: Content) -> UInt64? { (try? Backing.stat(path: object(content), in: AT_FDCWD))?.size }

    func keep(copying file: Int32, as content: Content, _ labels: [Label], isDurable: Bool) throws(Errno) {
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        let copy = try Backing.open(path: object(content), in: AT_FDCWD, flags: flags, mode: 0o600)
        defer { Glibc.close(copy) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = pread(file, &buffer, 64, 0)
        pwrite(copy, &buffer, max(0, count), 0)
        try behindCopy.withLock(\.self)?()
    }

    func mayKeep(size: UInt64) -> Bool { true }
    func room(for size: UInt64) -> UInt64 { size }
    func drop(_ content: Content) { unlink(object(content)) }

    func copy(_ content: Content, size: UInt64, to file: FileID, isDurable: Bool) throws(Errno) { throw .notSupported }
    func copy(_ source: SharedDescriptor, size: UInt64, to file: FileID, isDurable: Bool) throws(Errno) {
        throw .notSupported
    }
}

extension Crowd: FactRecorder {
    func isSound(_ log: any FactLog) -> Bool { true }
    var log: any FactLog { ListedFacts(recorded: state.withLock(\.told)) }

    func reserve(_ count: UInt64) -> UInt64 {
        state.withLock { state in
            defer { state.next += count }
            return state.next
        }
    }

    func finish(_ first: UInt64) {}

    func describe(_ facts: [Fact]) {}

    func commit(_ told: FactTransaction, from first: UInt64, last: UInt64) {
        state.withLock { $0.told += told.facts }
    }
}
