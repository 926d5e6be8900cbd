// Asking how a conflict is resolved, until it is.

import ArgumentParser
import ControlProtocol
import VersionModel
import VersionsClient

/// Shows a conflict, asks, and does what is answered.
struct ResolveDialog {
    let session: Session
    /// The document as it was typed.
    let name: Path
    /// Says what became of the conflict.
    let report: (Resolution) throws -> Void
    /// The document with its conflict as it is now; nil if it has none.
    let conflict: () async throws -> ConflictedDocument?
    /// A text from the editor that could not be taken yet.
    private var kept: MergeDraft?

    init(
        _ session: Session, name: Path, conflict: @escaping () async throws -> ConflictedDocument?,
        report: @escaping (Resolution) throws -> Void
    ) {
        (self.session, self.name, self.conflict, self.report) = (session, name, conflict, report)
    }

    /// Asks until nothing is left to resolve.
    /// - Throws: exit status 1 if people leave it as it is.
    mutating func run(_ first: ConflictedDocument) async throws {
        do {
            try await ask(first)
        } catch {
            guard let kept else { throw error }
            guard error is ControlError else {
                KeptText.note(keeping: kept.text)
                throw error
            }
            throw KeptText.error(error, keeping: kept.text)
        }
    }

    private mutating func ask(_ first: ConflictedDocument) async throws {
        var document: ConflictedDocument? = first
        while let shown = document {
            try show(shown)
            do {
                let resolution = try await resolve(shown)
                try report(resolution)
                if resolution.remaining == 0 { return }
            } catch let error as ControlError {
                // Without a daemon there is nothing to ask about.
                guard error.code != .disconnected, error.code != .notMounted else { throw error }
                Printer.error(Diagnostic(error))
            }
            document = try await conflict()
        }
        try Printer.text("No conflict is left in \(Style.printable(name)).\n")
        if let kept { KeptText.note(keeping: kept.text) }
    }

    private func show(_ document: ConflictedDocument) throws {
        try Printer.text(session.versionText().conflicts([document]))
        for (index, loser) in document.versions.enumerated() {
            let difference = try Difference.between(document.current, loser)
            try Printer.text("  \(index + 1)  \(loser.id.short) against the current version: \(difference)\n")
        }
    }

    // MARK: - Answers

    /// Asks until an answer resolves something.
    private mutating func resolve(_ document: ConflictedDocument) async throws -> Resolution {
        let numbers = document.versions.count == 1 ? "1" : "1-\(document.versions.count)"
        let prompt = "Keep [c]urrent, use [\(numbers)], keep [a]ll as separate files,\n"
            + "[m]erge, [e]dit, [t]ool, [d]iff, [q]uit, or [?] for help: "
        while true {
            guard let answer = try Question.ask(prompt)?.lowercased() else {
                // The shell's prompt is to have a line of its own.
                try Files.write([UInt8(10)], to: 2, path: nil)
                throw ExitCode(1)
            }
            switch answer.filter({ $0 != " " && $0 != "\t" }) {
            case "c", "current": return try await take(.current, document.versions.map(\.id))
            case "a", "all": return try await take(.all, document.versions.map(\.id))
            case "m", "merge": return try await merge(document)
            case "e", "edit": return try await edit(document)
            case "t", "tool":
                if let tool = try chosenTool() { return try await merge(document, with: tool) }
            case "d", "diff": try compare(document)
            case "q", "quit": throw ExitCode(1)
            case "?", "h", "help": try explain(numbers)
            case let word:
                guard let version = Self.version(word, of: document) else {
                    // Of an empty line the question itself is the answer.
                    if !word.isEmpty { try misunderstood(answer) }
                    continue
                }
                return try await take(.version(version.id.hex), document.versions.map(\.id))
            }
        }
    }

    private func misunderstood(_ answer: String) throws {
        let shown = Style.printable(String(answer.prefix(40)))
        try Files.write(Array("'\(shown)' is none of the answers.\n".utf8), to: 2, path: nil)
    }

    /// The version that a number, or the first digits of an id, stands for.
    private static func version(_ word: String, of document: ConflictedDocument) -> VersionInfo? {
        let versions = document.versions
        if let number = Int(word), versions.indices.contains(number - 1) { return versions[number - 1] }
        return word.count < 4 ? nil : versions.first { $0.id.hex.hasPrefix(word) }
    }

    private func take(_ choice: ResolveRequest.Choice, _ seen: [VersionID]) async throws -> Resolution {
        try await session.call(ResolveRequest(session.target, keep: choice, seen: seen))
    }

    private func compare(_ document: ConflictedDocument) throws {
        for loser in document.versions {
            // As the summary counts: what the other version has beside the current one.
            let sides = (DiffSide(document.current, as: name), DiffSide(loser, as: name))
            try Differ(style: .standardOutput()).run([DiffPair(old: sides.0, new: sides.1)])
        }
    }

    private func explain(_ numbers: String) throws {
        let answers = [
            ("c", "keeps the current version."),
            (numbers, "makes the version of that number the current one."),
            ("a", "keeps all: the other versions become files beside the document, as NAME 2.EXT."),
            ("m", "merges the other versions into the current one, where their edits do not overlap."),
            ("e", "merges, and opens the text in the editor: \(Style.printable(Editor.program)) (VISUAL, EDITOR)."),
            ("t", "merges version 1 in a program: the merge.tool of git, else a program that you name."),
            ("d", "shows how the other versions differ from the current one."),
            ("q", "leaves the conflict as it is."),
        ]
        let columns = TerminalWidth.ofStandardError()
        let lines = answers.map { letter, text in
            WrappedText.lines(text, label: "  " + letter.padded(to: 5), columns: columns)
        }
        let end = WrappedText.lines(
            "The versions that are not chosen stay in the document's history.", label: "", columns: columns)
        try Printer.text((lines + [end]).joined(separator: "\n") + "\n")
    }

    // MARK: - Merging

    private func merge(_ document: ConflictedDocument) async throws -> Resolution {
        let draft = try await MergeDraft.make(of: document, named: name, needsBase: true, session)
        guard draft.conflicts == 0 else {
            throw ControlError(
                .failed, "\(Words.count(draft.conflicts, "conflict")) left in the merged text; nothing was changed",
                path: name, advice: "[e]dit opens the merged text, with markers at each conflict")
        }
        return try await save(draft, over: document)
    }

    private mutating func edit(_ document: ConflictedDocument) async throws -> Resolution {
        var draft = try await begun(document)
        draft.text = try await Editor.edit(draft.text, named: document.path.lastComponent)
        guard draft.text != draft.original else {
            throw ControlError(
                .failed, "the text was not changed in the editor; nothing was changed", path: name,
                advice: draft.conflicts == 0 ? "[m]erge takes the merged text as it is" : "[e]dit opens it again")
        }
        // An emptied buffer is an editor's way of giving up, as with the message of a commit.
        guard !draft.text.isEmpty else {
            throw ControlError(
                .failed, "the text is empty; nothing was changed", path: name, advice: "[e]dit begins again")
        }
        kept = draft
        guard draft.conflicts == 0 else {
            throw ControlError(
                .failed, "\(Words.count(draft.conflicts, "conflict")) left in the text; nothing was changed",
                path: name, advice: "[e]dit goes on with it: remove the lines of the markers")
        }
        let resolution = try await save(draft, over: document)
        kept = nil
        return resolution
    }

    /// The text that editing goes on with.
    private func begun(_ document: ConflictedDocument) async throws -> MergeDraft {
        guard let kept, kept.losers.contains(where: { id in document.versions.contains { $0.id == id } }) else {
            return try await MergeDraft.make(of: document, named: name, needsBase: false, session)
        }
        let isCurrent = MergedContent.isSame(document.current, as: kept.current)
        return isCurrent ? kept : try await kept.moved(onto: document, named: name)
    }

    private func save(_ draft: MergeDraft, over document: ConflictedDocument) async throws -> Resolution {
        try await Files.withTemporaryDirectory { directory in
            let file = MergeFiles(for: document.path, in: directory).merged
            try Files.replace(file, with: draft.text)
            try await save(file, over: document.current)
        }
        return try await take(.merged, draft.losers)
    }

    private func save(_ merged: Path, over current: VersionInfo) async throws {
        do {
            try await MergedContent.save(merged, over: current, session)
        } catch is MergedContent.SavedMeanwhile {
            throw ControlError(
                .busy, "the file was saved meanwhile; the conflict is not resolved", path: name,
                advice: kept == nil ? "choose again" : "[e]dit goes on with your text, merged with what was saved")
        }
    }

    /// Git's merge tool, else the one that is asked for; nil if none is named.
    private func chosenTool() throws -> MergeTool? {
        if let tool = try MergeTool.configured() { return tool }
        let answer = try Question.ask(
            "No merge program is set in git (merge.tool).\nProgram to merge with (Enter goes back): ")
        return answer.flatMap { $0.isEmpty ? nil : MergeTool($0) }
    }

    private mutating func merge(_ document: ConflictedDocument, with tool: MergeTool) async throws -> Resolution {
        guard let loser = document.versions.first else { return try await take(.merged, []) }
        let known = try await session.call(HistoryRequest(session.target)).versions
        try await Files.withTemporaryDirectory { directory in
            let files = MergeFiles(for: document.path, in: directory)
            try ThreeWayMerge.copy(document.current, to: files.local)
            try ThreeWayMerge.copy(
                ThreeWayMerge.base(of: [document.current.id], and: loser.id, in: known), to: files.base)
            try ThreeWayMerge.copy(loser, to: files.remote)
            if try TextMerge.run(files, labels: ["current", "base", loser.id.short]) == .impossible {
                try Files.replace(files.merged, with: Files.content(files.local))
            }
            let original = try Files.content(files.merged)
            try await KeptText.guarding(files.merged, original: original) {
                try tool.run(files, for: name, asks: false)
            }
            kept = try MergeDraft(files, original: original, over: document.current, with: loser)
            try await save(files.merged, over: document.current)
        }
        let resolution = try await take(.merged, [loser.id])
        kept = nil
        return resolution
    }
}
