// A log that is read span by span tells what it tells at once.

import ControlProtocol
import Foundation
import Support
import Synchronization
import Testing
import VersionModel

@testable import versionsctl

@Suite("log, span by span")
struct LogStreamTests {
    private static let now = Samples.noon
    private static let minute: Int64 = 60_000_000_000

    private static func at(_ minutesAgo: Int64, _ nanoseconds: Int64 = 0) -> Timestamp {
        now.advanced(byNanoseconds: -minutesAgo * minute + nanoseconds)
    }

    // MARK: Spans

    @Test("The spans of a log touch one another, and cover what was asked for", arguments: [
        (nil, nil, 4), (30, nil, 1), (90, nil, 2), (nil, 600, 4), (700, 600, 2), (60, nil, 1), (61, nil, 2),
    ] as [(Int64?, Int64?, Int)])
    func spans(since: Int64?, until: Int64?, count: Int) {
        let (since, until) = (since.map { Self.at($0) }, until.map { Self.at($0) })
        let spans = LogSpan.all(now: Self.now, since: since, until: until)
        #expect(spans.count == count && spans.first?.to == nil && spans.last?.from == nil, "\(spans)")
        for (newer, older) in zip(spans, spans.dropFirst()) { #expect(newer.from == older.to && newer.from != nil) }
        for span in spans {
            let request = span.request(since: since, until: until)
            if let since { #expect(request.since ?? since >= since) }
            if let until { #expect(request.until ?? until <= until) }
        }
        #expect(spans.last?.request(since: since, until: until).since == since)
        #expect(spans.first?.request(since: since, until: until).until == until)
    }

    // MARK: The whole

    /// A history as a container has it: rows of saves with their versions, amended and thinned ones, files that come
    /// back unchanged, deletions with their entries.
    private struct History {
        var events: [LoggedEvent] = []
        var versions: Set<VersionID> = []
        private var sequence: UInt64 = 0
        private var generator: SeededGenerator

        init(seed: UInt64) {
            generator = SeededGenerator(seed: seed)
            var time = LogStreamTests.at(20 * 24 * 60)
            var saved: [VersionID] = []
            for number in 1...120 as ClosedRange<UInt64> {
                let pause = ([1, 1, 20, 70, 600] as [Int64]).randomElement(using: &generator) ?? 1
                let step = Int64.random(in: 1...pause * LogStreamTests.minute, using: &generator)
                time = time.advanced(byNanoseconds: step)
                guard time < LogStreamTests.now else { break }
                happen(number, time, &saved)
            }
        }

        private mutating func happen(_ number: UInt64, _ time: Timestamp, _ saved: inout [VersionID]) {
            let path = ["a", "b"].randomElement(using: &generator) ?? "a"
            let (who, pid) = [("vim", 7), ("sed", 8), ("git", 9)].randomElement(using: &generator) ?? ("vim", 7)
            func event(_ kind: ChangeEvent, _ time: Timestamp, _ version: VersionID? = nil) -> LoggedEvent {
                LoggedEvent(
                    time: time, event: kind, path: Path(path), version: version, user: "ann", program: who,
                    pid: Int32(pid))
            }
            let later = time.advanced(byNanoseconds: Int64.random(in: 0...2_000_000_000, using: &generator))
            let id = VersionID(high: number << 32, low: number)
            switch Int.random(in: 0..<10, using: &generator) {
            case ..<5:
                row(event(.saved, later, id))
                // Amended: its first row is older than it is.
                let isAmended = Int.random(in: 0..<4, using: &generator) == 0
                let last = isAmended ? later.advanced(byNanoseconds: 1_500_000_000) : time
                if last != time { row(event(.saved, last, id)) }
                if Int.random(in: 0..<3, using: &generator) > 0 {
                    events.append(event(.saved, last, id))
                    versions.insert(id)
                }
                saved.append(id)
            case ..<7: if let version = saved.randomElement(using: &generator) { row(event(.saved, later, version)) }
            case ..<9:
                row(event(.deleted, later))
                var entry = event(.deleted, time)
                entry.deletion = DeletionID(high: number, low: number)
                if Bool.random(using: &generator) { events.append(entry) }
            default: row(event(.renamed, later))
            }
        }

        private mutating func row(_ event: LoggedEvent) {
            var event = event
            sequence += 1
            event.sequence = sequence
            events.append(event)
        }
    }

    @Test("Span by span the runs are those of the whole log", arguments: 0..<200 as Range<UInt64>)
    func whole(number: UInt64) {
        let seed = (ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) } ?? 1) + number
        let history = History(seed: seed)
        let whole = LogTimeline.entries(LogTimeline.events(history.events))
        var stream = LogStream(by: nil)
        var told: [LogEntry] = []
        for span in LogSpan.all(now: Self.now, since: nil, until: nil) {
            let request = span.request(since: nil, until: nil)
            let pages = history.events.filter { event in
                (request.since.map { event.time >= $0 } ?? true) && (request.until.map { event.time <= $0 } ?? true)
            }
            let older = stream.unclear(pages, span).intersection(history.versions)
            told += stream.add(pages, span, older: older)
        }
        #expect(told == whole, "seed \(seed)")
        #expect(stream.hasEvents == !whole.isEmpty)
    }

    @Test("A run is given out as soon as no older event can belong to it, and not before one that is newer")
    func early() {
        func save(_ number: UInt64, _ minutesAgo: Int64, _ program: String) -> LoggedEvent {
            LoggedEvent(
                time: Self.at(minutesAgo), event: .saved, path: Path("a"), version: VersionID(high: 1, low: number),
                user: "ann", program: program, pid: 7)
        }
        var stream = LogStream(by: nil)
        let span = LogSpan(from: Self.at(120))
        // vim saved 30 minutes after the span began, and may have saved before it as well.
        let first = stream.add([save(1, 0, "git"), save(2, 55, "sed"), save(3, 90, "vim"), save(4, 50, "vim")], span)
        #expect(first.map(\.program) == ["git"])
        let rest = stream.add([save(5, 130, "vim")], LogSpan(to: span.from))
        #expect(rest.map { "\($0.program) \($0.events.count)" } == ["vim 3", "sed 1"])
    }

    // MARK: The tool

    private func world() throws -> ToolWorld {
        let world = try ToolWorld()
        let saves = (1...9).map { number in
            LoggedEvent(
                time: Words.now().advanced(byNanoseconds: Int64(-20 * number) * Self.minute), event: .saved,
                path: Path("doc.txt"), version: VersionID(high: UInt64(number), low: 1), user: "ann",
                program: "p\(number)", pid: 7)
        }
        world.backend.state.withLock { $0.logPages = [saves] }
        return world
    }

    @Test("-n stops after so many runs, and asks for no more than they need")
    func most() throws {
        let world = try world()
        defer { world.stop() }
        let whole = try world.run(["log"]).output.components(separatedBy: "\n\n")
        #expect(whole.count == 9)
        let asked = world.backend.log.count { $0.hasPrefix("log") }
        let few = try world.run(["log", "-n", "2"])
        #expect(few.output == whole.prefix(2).joined(separator: "\n\n") + "\n", "\(few)")
        #expect(world.backend.log.count { $0.hasPrefix("log") } - asked < asked)
        let json = try world.run(["log", "--json", "--max-count", "3"])
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: [[String: Any]]]
        #expect(object?["entries"]?.map { $0["program"] as? String } == ["p1", "p2", "p3"])
        for wrong in [["-n", "0"], ["-n", "-1"], ["-n", "x"], ["-n"]] {
            #expect(try world.run(["log"] + wrong).status == 64, "\(wrong)")
        }
    }
}
