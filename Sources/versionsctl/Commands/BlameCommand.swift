// Who brought each line of a file.

import ArgumentParser
import ControlProtocol
import VersionModel
import VersionsClient

struct BlameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame", abstract: "Show which version brought each line of a file, and who saved it.",
        discussion: """
            Lines are followed back through the versions that a version came from. Files of more than \
            \(BlamedFile.mostLines) lines, and binary files, are refused.
            """)
    @Argument(help: "The file.") var file: TypedPath
    @Option(help: ArgumentHelp("Which version; else the current one.", valueName: "id")) var version: String?
    @Option(help: ArgumentHelp("The version of that time.", valueName: "time"), transform: TypedTime.parse)
    var at: TypedTime?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func validate() throws {
        if version != nil, at != nil { throw ValidationError("give --version or --at, not both") }
    }

    func run() async throws {
        let session = try await Session.open(file, container)
        let history = try await session.call(HistoryRequest(session.target))
        let chosen = try await chosen(session, history)
        let lines = try BlamedFile(history.versions, name: session.shown(history.path)).lines(of: chosen)
        let report = BlameReport(path: history.path, version: chosen.id, lines: lines)
        if json.json { return try Printer.json(report) }
        try Printer.text(report.text(.standardOutput()))
    }

    private func chosen(_ session: Session, _ history: DocumentHistory) async throws -> VersionInfo {
        guard let moment = at?.moment else {
            return try await session.call(ShowRequest(session.target, version: version, content: true))
        }
        let found = history.versions.first { $0.kind != .conflict && $0.saved <= moment }
        guard let found else {
            let first = history.versions.last.map { "versions begin at \(Words.exact($0.saved))" }
            throw ControlError(.notFound, "no history that far back", path: file.path, advice: first)
        }
        return try await session.call(ShowRequest(.id(found.id.hex), version: nil, content: true))
    }
}
