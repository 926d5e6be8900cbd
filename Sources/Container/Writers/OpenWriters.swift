// Files that programs keep open: what they write becomes a version before they close them (DESIGN 5.1).

import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel

/// Looks at each file that a program has open for writing. A change is a version once the file is quiet.
final class OpenWriters: Sendable {
    /// The quiet time of a changed file before it becomes a version.
    private static let quiet: Int64 = 5_000_000_000
    /// The time from one such version of a file to the next, and between looks at files that do not change.
    private static let calm: Int64 = 60_000_000_000

    private let serving: Serving
    private let engine: Engine
    private let databases: EngineDatabases
    private let logger: Logger
    /// Those that were opened since the last look. Innermost.
    private let opened = RankedMutex<[UInt64]>([])

    private var looks: Scheduler { databases.looks }

    init(_ serving: Serving, _ engine: Engine, _ databases: EngineDatabases, _ logger: Logger) {
        (self.serving, self.engine, self.databases, self.logger) = (serving, engine, databases, logger)
    }

    func start() { looks.start() }
    func end() { looks.end() }

    /// A program has opened a file for writing.
    func watch(_ file: OpenFile) {
        let isFirst = opened.withLock { opened in
            opened.append(file.id)
            return opened.count == 1
        }
        // One look for all files opened meanwhile: most are closed by then.
        if isFirst { looks.after(Self.quiet) { [weak self] in self?.lookAtOpened() } }
    }

    private func lookAtOpened() {
        let opened = opened.withLock { opened in
            defer { opened = [] }
            return opened
        }
        for id in opened {
            guard let file = serving.files[id] else { continue }
            look(at: file, in: Self.quiet - (Scheduler.now - file.opened))
        }
    }

    private func look(at file: OpenFile, in time: Int64) {
        guard time > 0 else { return look(at: file) }
        looks.after(time) { [weak self, weak file] in
            if let self, let file { self.look(at: file) }
        }
    }

    private func look(at file: OpenFile) {
        guard serving.files[file.id] === file else { return }
        var next = Self.calm
        do throws(Errno) { next = try sealIfQuiet(file) ?? Self.calm } catch {
            logger.error("a file that stays open could not be saved: \(error)")
        }
        looks.after(next) { [weak self, weak file] in
            if let self, let file { self.look(at: file) }
        }
    }

    /// - Returns: the time until it may be quiet; nil: there is no hurry.
    private func sealIfQuiet(_ file: OpenFile) throws(Errno) -> Int64? {
        if databases.isInPlace(file) {
            return databases.captures.capture(file.node, file.requester, mayWait: true)
        }
        guard engine.scene.file(of: file.number) != nil, let look = try engine.look(at: file.node.file),
            look.file.isChanged
        else { return nil }
        let stat = try Backing.stat(file.descriptor.raw)
        let age = engine.parts.clock.now().since(stat.changed)
        guard age >= Self.quiet else { return Self.quiet - max(0, age) }
        try engine.seal(file.number)
        // A file that was emptied waits for what is written next.
        return stat.size == 0 ? Self.quiet : nil
    }
}
