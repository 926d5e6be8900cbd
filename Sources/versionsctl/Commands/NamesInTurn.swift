// A command that takes several names: each in turn, and what fails of one keeps no other from being done.

import ArgumentParser
import ControlProtocol
import Glibc
import VersionsClient

/// Brings back what several names stand for.
struct NamesInTurn {
    /// What came of one name.
    struct Done {
        var restored: Restored
        /// As people would type it.
        var path: Path
        var session: Session
        /// Lines that follow what is said of it.
        var told: [String]
        /// What is wrong though it came back.
        var failure: ControlError?

        init(
            _ restored: Restored, as path: Path, _ session: Session, told: [String] = [],
            failure: ControlError? = nil
        ) {
            (self.restored, self.path, self.session) = (restored, path, session)
            (self.told, self.failure) = (told, failure)
        }
    }

    /// Of more names there is one line together.
    private static let listed = 20

    private let names: [TypedPath]
    /// What it has done, `Restored`, and what it does, `restoring`.
    private let verb: String
    private let progress: String
    private let json: Bool

    init(_ names: [TypedPath], _ verb: String, _ progress: String, json: Bool) {
        (self.names, self.verb, self.progress, self.json) = (names, verb, progress, json)
    }

    /// - Parameter body: brings one back; gets the session of the name before, whose connection may serve again.
    /// - Throws: what fails of a single name; for several exit status 1 behind the messages.
    func run(
        _ body: (_ name: TypedPath, _ other: Session?, _ line: ProgressLine?) async throws -> Done
    ) async throws {
        let line = ProgressLine(progress)
        guard names.count > 1 else {
            let done = try await body(names[0], nil, line)
            Printer.endProgress()
            try say(done)
            if json { try Printer.json(done.restored) }
            if let failure = done.failure { throw failure }
            return
        }
        var (all, hasFailed): ([Done], Bool) = ([], false)
        for (index, name) in names.enumerated() {
            line?.show(done: index, of: names.count)
            do {
                let done = try await body(name, all.last?.session, line)
                all.append(done)
                if names.count <= Self.listed || !done.told.isEmpty { try say(done) }
                if let failure = done.failure { throw failure }
            } catch let error as ControlError {
                if isDone(name, error, all) { continue }
                hasFailed = true
                Printer.endProgress()
                Printer.error(Diagnostic(error))
                if isForAll(error) { break }
            }
        }
        Printer.endProgress()
        if json { try Printer.json(all.map(\.restored)) } else if names.count > Self.listed { try sum(all) }
        if hasFailed { throw ExitCode(1) }
    }

    private func say(_ done: Done) throws {
        guard !json else { return }
        Printer.endProgress()
        try RestoreReport.print(done.restored, as: done.path, verb, json: false)
        for line in done.told { try Printer.text(line) }
    }

    private func sum(_ all: [Done]) throws {
        guard !all.isEmpty else { return }
        let entries = all.reduce(0) { $0 + $1.restored.entries }
        let counts = all.compactMap(\.restored.directories)
        let directories = counts.count == all.count ? counts.reduce(0, +) : nil
        let displaced = all.reduce(0) { $0 + $1.restored.displaced }
        try Printer.text(
            "\(verb) \(Words.count(all.count, "name"))"
                + (entries == all.count ? "" : " (\(RestoreReport.count(entries, directories)))")
                + (displaced == 0 ? "" : "; \(Words.count(displaced, "newer name")) moved to the deleted area") + ".\n")
    }

    /// Whether a name came back with a directory before it.
    private func isDone(_ name: TypedPath, _ error: ControlError, _ all: [Done]) -> Bool {
        guard error.code == .nothingToDo, let last = all.last, Files.exists(name.path),
            let path = try? last.session.inside(name)
        else { return false }
        return all.contains { done in
            done.restored.document == path || path.bytes.starts(with: done.restored.document.bytes + [47])
        }
    }

    /// Whether every further name would fail of the same.
    private func isForAll(_ error: ControlError) -> Bool {
        if let number = error.errno, [ENOSPC, EDQUOT, EROFS, EIO].contains(number) { return true }
        return [.disconnected, .notMounted, .incompatible, .cancelled].contains(error.code)
    }
}
