// `versionsctl query`: what is in the tree by its attributes, once or as it changes.

import ArgumentParser
import ControlProtocol
import Glibc
import QueryLanguage
import Synchronization
import VersionModel
import VersionsClient

struct QueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "List files and directories by their attributes.",
        usage: "versionsctl query [PREDICATE] [PATH] [--live] [--no-pager] [--json] [--container PATH]",
        discussion: """
            PREDICATE compares attributes, for example

              versionsctl query 'name LIKE "*.sicd" AND conflicts > 0'
              versionsctl query 'size >= 10MiB AND modified NOT WITHIN 30d' Pictures
              versionsctl query 'modified within 10m'
              versionsctl query --live 'program LIKE "vim*" OR path LIKE[c] "*/readme*"'

            Attributes:
            \(Self.attributes)
            Comparisons: = != < <= > >=, LIKE with * for any characters and ? for one, IN (A, B), WITHIN, NOT; \
            =[c], LIKE[c] and IN[c] take no notice of case. AND, OR, NOT and parentheses join them. Texts stand in \
            quotes where they hold more than letters, digits and the like; \\" \\\\ \\n \\t \\xHH in them stand for a \
            character. Sizes may have KiB, MiB, GiB or TiB behind them. WITHIN takes an age, as find -mmin does. Times \
            are 10m, yesterday, "yesterday 17:00", "2026-11-21 10:33" and so on. docs/query.md says more.
            """)

    @Argument(help: "What to list; everything without it.") var predicate: TypedPredicate?
    @Argument(help: "The directory to look in.") var path: TypedPath?
    @Flag(help: "Go on, and print changes of the list.") var live = false
    @OptionGroup var pager: PagerOption
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    private static var attributes: String {
        QueryAttribute.allCases.map { attribute in
            "  " + attribute.rawValue.padded(to: 11) + attribute.summary
        }.joined(separator: "\n")
    }

    func validate() throws { _ = try parsed() }

    /// Read here, for times are meant by the clock of who types them; the daemon gets them in UTC.
    private func parsed() throws -> QueryPredicate {
        do throws(QuerySyntaxError) {
            let now = Words.now().nanoseconds
            return try QueryPredicate(parsing: predicate?.bytes ?? []) { text in
                TimeText.parse(text, now: now).map { Timestamp(nanoseconds: $0) }
            }
        } catch {
            throw ValidationError("the predicate cannot be read \(error)")
        }
    }

    func run() async throws {
        let text = predicate == nil ? nil : "\(try parsed())"
        let session = try await Session.open(path, container)
        let request = QueryRequest(session.target, predicate: text, live: live)
        do {
            if live { try await follow(request, session) } else { try await list(request, session) }
        } catch let error as ControlError {
            var error = error
            error.path = error.path.map { session.shown($0) } ?? path?.path
            throw error
        }
    }

    private func list(_ request: QueryRequest, _ session: Session) async throws {
        let items = try await session.client.items(of: request)
        if json.json { return try Printer.json(items) }
        pager.start(besides: json)
        let display = session.display
        let text = QueryText(style: .standardOutput(), now: Words.now(), shown: { display.shown($0) })
        try Printer.text(text.table(items))
    }

    private func follow(_ request: QueryRequest, _ session: Session) async throws {
        let results = FollowedResults()
        let (asJSON, display) = (json.json, session.display)
        let text = QueryText(style: .standardOutput(), now: Words.now(), shown: { display.shown($0) })
        // Printed on the connection's own thread: a reader that stops reading us makes the daemon wait.
        let end = try await session.client.query(request) { piece in
            do {
                for line in results.lines(of: piece) {
                    if asJSON { try Printer.jsonLine(line) } else { try Printer.text(text.line(line)) }
                }
            } catch {
                Printer.stop(error)
            }
        }
        throw end ?? ControlError(.disconnected, "the query has ended", advice: "repeat the command")
    }
}

/// What a live query has told, and the lines for what changes.
private final class FollowedResults: Sendable {
    /// Guards the results alone.
    private let results = Mutex(QueryResults())

    func lines(of piece: QueryResultsNotification) -> [QueryLine] {
        results.withLock { results in
            results.take(piece).map { QueryLine.lines(of: $0, count: results.count) } ?? []
        }
    }
}

/// A predicate as typed, byte for byte: names in it need not be text.
struct TypedPredicate: ExpressibleByArgument {
    var bytes: [UInt8]
    init?(argument: String) { bytes = ArgumentBytes.bytes(argument) }
}
