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

            \(VersionOptions.explanation)
            """)
    @Argument(help: "The file.") var file: TypedPath
    @OptionGroup var version: VersionOptions
    @OptionGroup var pager: PagerOption
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func validate() throws { try version.requireOne() }

    func run() async throws {
        let session = try await Session.open(file, container)
        // The version is looked up first, so that the history has it.
        let chosen = try await session.call(ShowRequest(session.target, version: version.name, content: true))
        let history = try await session.call(HistoryRequest(session.target))
        let lines = try BlamedFile(history.versions, name: session.shown(history.path)).lines(of: chosen)
        let report = BlameReport(path: history.path, version: chosen.id, lines: lines)
        if json.json { return try Printer.json(report) }
        pager.start(besides: json)
        try Printer.text(report.text(.standardOutput()))
    }
}
