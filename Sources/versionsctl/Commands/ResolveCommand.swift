// Settling conflicts: by choice, by merging, or by asking.

import ArgumentParser
import ControlProtocol
import VersionModel

struct ResolveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "Settle a document's conflict.",
        discussion: """
            Without options it shows the versions and asks, on a terminal, until the conflict is resolved: it keeps \
            one version or all, merges, opens the merged text in $VISUAL or $EDITOR, or runs git's merge.tool. The \
            versions that are not chosen stay in the document's history.
            """)
    @Argument(help: "The document; with --all a directory.") var path: TypedPath
    @Option(help: ArgumentHelp(
        "Keep the current version, another one, or all as separate files ('NAME 2.EXT').",
        valueName: "current|version|all"))
    var keep: String?
    @Flag(help: "Merge the other versions into the document.") var merge = false
    @Option(help: ArgumentHelp(
        "Merge with this program; LOCAL, BASE, REMOTE and MERGED are its arguments and in its environment.",
        valueName: "program"))
    var tool: String?
    @Flag(help: "Keep the version that was saved last.") var newest = false
    @Flag(help: "With --newest: settle every conflict at or below PATH.") var all = false
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func validate() throws {
        let ways = [keep != nil, merge || tool != nil, newest].count { $0 }
        guard ways <= 1 else { throw ValidationError("more than one of --keep, --merge and --newest") }
        guard !all || newest else { throw ValidationError("--all needs --newest") }
        // Of a directory it is said what goes, which no option changes but --all.
        guard ways == 1 || (Question.canAsk && !json.json) || Files.isDirectory(path.path) else {
            throw ValidationError("missing --keep current|ID|all, --merge or --newest")
        }
    }

    func run() async throws {
        let session = try await Session.open(path, container)
        if all {
            let resolutions = try await session.call(ResolveAllRequest(session.target), progress: "resolving")
            return try report(resolutions, session)
        }
        if session.targetPath != nil, Files.isDirectory(path.path) { throw directory }
        guard let document = try await conflict(session) else { throw await nothing(session) }
        guard let choice = try await chosen(document, session) else {
            var dialog = ResolveDialog(
                session, name: session.shown(document.path), conflict: { try await conflict(session) },
                report: { try report([$0], session) })
            return try await dialog.run(document)
        }
        let seen = document.versions.map(\.id)
        let resolution = try await session.call(ResolveRequest(session.target, keep: choice, seen: seen))
        try report([resolution], session)
    }

    private var directory: ControlError {
        let shown = Style.printable(path.path)
        return ControlError(
            .invalidValue, "is a directory", path: path.path,
            advice: "`versionsctl conflicts \(shown)` lists the conflicts in it; "
                + "`versionsctl resolve --all --newest \(shown)` resolves them all")
    }

    private func conflict(_ session: Session) async throws -> ConflictedDocument? {
        try await session.call(ConflictsRequest(session.target)).first { document in
            session.targetPath.map { $0 == document.path } ?? true
        }
    }

    /// Why there is nothing to resolve. The daemon knows whether the document is deleted; it is told of no loser that
    /// was seen, so that it resolves none.
    private func nothing(_ session: Session) async -> ControlError {
        do throws(ControlError) {
            _ = try await session.call(ResolveRequest(session.target, keep: .current, seen: []))
        } catch {
            if error.code == .invalidValue { return error }
        }
        let advice = "`versionsctl conflicts` lists the documents with conflicts"
        do throws(ControlError) { try session.requireThere(path, advice: advice) } catch { return error }
        return ControlError(.nothingToDo, "no conflict to resolve", path: path.path, advice: advice)
    }

    /// What the options say; nil if they say nothing.
    private func chosen(
        _ document: ConflictedDocument, _ session: Session
    ) async throws -> ResolveRequest.Choice? {
        if newest { return .newest }
        if let keep { return ResolveRequest.Choice(word: keep) }
        guard merge || tool != nil else { return nil }
        let name = session.shown(document.path)
        try await ThreeWayMerge(document: document, tool: tool.map { MergeTool($0) }, name: name).run(session)
        return .merged
    }

    private func report(_ resolutions: [Resolution], _ session: Session) throws {
        if json.json { return try Printer.json(resolutions) }
        if resolutions.isEmpty { return try Printer.text("No conflicts.\n") }
        for resolution in resolutions {
            var text = "Resolved \(Style.printable(session.shown(resolution.document)))"
            if !resolution.written.isEmpty {
                text +=
                    "; written: "
                    + resolution.written.map { Style.printable(session.shown($0)) }.joined(separator: ", ")
            }
            if resolution.remaining > 0 { text += "; \(Words.count(resolution.remaining, "other version")) to resolve" }
            try Printer.text(text + ".\n")
        }
    }
}
