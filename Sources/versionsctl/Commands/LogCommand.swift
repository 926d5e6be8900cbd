// The time line of a file or tree: who did what, and when.

import ArgumentParser
import ControlProtocol
import VersionModel
import VersionsClient

struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show what happened to a file or directory, and who did it.",
        discussion: """
            Events are grouped by run of a program, the newest first. A file is followed under its earlier names. The \
            change feed has the last 100,000 events; of the time before it, saves and deletions are listed.
            """)
    @Argument(help: "A file or directory.") var path: TypedPath?
    @Option(
        help: ArgumentHelp("Only what happened then or later: \(TypedTime.examples).", valueName: "time"),
        transform: TypedTime.parse)
    var since: TypedTime?
    @Option(help: ArgumentHelp("Only what happened then or before.", valueName: "time"), transform: TypedTime.parse)
    var until: TypedTime?
    @Option(help: ArgumentHelp("Only what a user, a program or a process (by its id) did.", valueName: "who"))
    var by: String?
    @Flag(name: .shortAndLong, help: "Show what each save changed.") var patch = false
    @Flag(help: "Show how many lines each save added and removed.") var stat = false
    @Flag(help: "List all events of each run.") var all = false
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(path, container, followingLastLink: false)
        let events = LogTimeline.events(try await pages(session))
        if events.isEmpty { try session.requireThere(path) }
        var entries = LogTimeline.entries(events.filter { event in by.map { LogTimeline.isBy($0, event) } ?? true })
        let display = session.display
        let style = Style.standardOutput()
        let text = LogText(style: style, now: Words.now(), showsAll: all || json.json, shown: { display.shown($0) })
        if patch || stat {
            let diffs = LogDiffs(session: session, style: json.json ? .plain : style, wantsText: patch)
            for index in entries.indices {
                // Nothing is compared that is not shown.
                let shown = Set(text.listed(entries[index]).events.compactMap(\.version))
                for number in entries[index].events.indices {
                    let event = entries[index].events[number]
                    guard let version = event.version, shown.contains(version) else { continue }
                    entries[index].events[number].difference = try await diffs.difference(of: event)
                }
            }
        }
        if json.json { return try Printer.json(LogReport(entries: entries)) }
        try Printer.text(text.log(entries))
    }

    private func pages(_ session: Session) async throws -> [LoggedEvent] {
        var events: [LoggedEvent] = []
        var place: String?
        repeat {
            let request = LogRequest(session.target, since: since?.moment, until: until?.moment, after: place)
            let page = try await session.call(request)
            events += page.events
            place = page.next
        } while place != nil
        return events
    }
}
