// The time line of a file or tree: who did what, and when.

import ArgumentParser
import ControlProtocol
import VersionModel
import VersionsClient

struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show who did what to a file or directory.",
        discussion: """
            Events are grouped by run of a program, the newest first. They are printed while older ones are read. A \
            file is followed under its earlier names. The change feed has the last 100,000 events; of the time before \
            it, saves and deletions are listed.

            --by takes a program as people call it: vim is also vim.basic, and python is also python3 and python3.11.
            """)
    @Argument(help: "A file or directory.") var path: TypedPath?
    @Option(
        help: ArgumentHelp("Only what happened then or later: \(TypedTime.examples).", valueName: "time"),
        transform: TypedTime.parse)
    var since: TypedTime?
    @Option(help: ArgumentHelp("Only what happened then or before.", valueName: "time"), transform: TypedTime.parse)
    var until: TypedTime?
    @Option(
        help: ArgumentHelp("Only what a user, program or process id did.", valueName: "who"),
        transform: TypedWho.parse)
    var by: String?
    @Flag(name: .shortAndLong, help: "Show what each save changed.") var patch = false
    @Flag(help: "Show how many lines each save added and removed.") var stat = false
    @Flag(help: "List all events of each run.") var all = false
    @Option(
        name: [.customShort("n"), .customLong("max-count")],
        help: ArgumentHelp("Only so many runs, the newest.", valueName: "number"))
    var most: Int?
    @OptionGroup var pager: PagerOption
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    /// More versions of a span are not asked for one by one: the rest of the log is read at once.
    private static let mostLookups = 1000

    func validate() throws {
        guard most.map({ $0 > 0 }) ?? true else { throw ValidationError("Give -n a number above 0.") }
    }

    func run() async throws {
        let session = try await Session.open(path, container, followingLastLink: false)
        pager.start(besides: json)
        let display = session.display
        let style = Style.standardOutput()
        let text = LogText(style: style, now: Words.now(), showsAll: all || json.json, shown: { display.shown($0) })
        let diffs = LogDiffs(session: session, style: json.json ? .plain : style, wantsText: patch)
        var report = LogReport(entries: [])
        var count = 0
        try await entries(session) { entry in
            let entry = patch || stat ? try await compared(entry, text, diffs) : entry
            if json.json {
                report.entries.append(entry)
            } else {
                try Printer.text((count == 0 ? "" : "\n") + text.entry(entry))
            }
            count += 1
            return most.map { count < $0 } ?? true
        }
        if json.json { return try Printer.json(report) }
        if count == 0 { try Printer.text(LogText.nothing) }
    }

    /// An entry with what its saves changed. Nothing is compared that is not shown.
    private func compared(_ entry: LogEntry, _ text: LogText, _ diffs: LogDiffs) async throws -> LogEntry {
        var entry = entry
        let shown = Set(text.listed(entry).events.compactMap(\.version))
        for number in entry.events.indices {
            guard let version = entry.events[number].version, shown.contains(version) else { continue }
            entry.events[number].difference = try await diffs.difference(of: entry.events[number])
        }
        return entry
    }

    // MARK: Reading

    /// Reads the log, and hands out each run as soon as it is complete, until `body` wants no more.
    private func entries(_ session: Session, _ body: (LogEntry) async throws -> Bool) async throws {
        let (since, until) = (since?.moment, until?.moment)
        var stream = LogStream(by: by)
        // One document has to be whole before it is printed.
        let isAtOnce = json.json && most == nil
        var spans = isAtOnce ? [LogSpan()] : LogSpan.all(now: Words.now(), since: since, until: until)
        while var span = spans.first {
            spans.removeFirst()
            var request = span.request(since: since, until: until)
            var events = try await pages(session, request)
            var unclear = stream.unclear(events, span)
            if unclear.count > Self.mostLookups {
                (span, spans, unclear) = (LogSpan(to: span.to), [], [])
                request = span.request(since: since, until: until)
                events = try await pages(session, request)
            }
            let older = await existing(unclear, session)
            for entry in stream.add(events, span, older: older) {
                guard try await body(entry) else { return }
            }
        }
        if !stream.hasEvents { try session.requireThere(path) }
    }

    private func pages(
        _ session: Session, _ span: (since: Timestamp?, until: Timestamp?)
    ) async throws -> [LoggedEvent] {
        var events: [LoggedEvent] = []
        var place: String?
        repeat {
            let page = try await session.call(
                LogRequest(session.target, since: span.since, until: span.until, after: place))
            events += page.events
            place = page.next
        } while place != nil
        return events
    }

    private func existing(_ versions: Set<VersionID>, _ session: Session) async -> Set<VersionID> {
        var found: Set<VersionID> = []
        for id in versions {
            let version = try? await session.client.call(ShowRequest(.id(id.hex), version: nil, content: nil))
            if version?.id == id { found.insert(id) }
        }
        return found
    }
}
