// What the log has of a file system that is full.

import Logging
import Synchronization
import Testing
import VersionModel

@testable import Container

@Suite("Shortages in the log") struct ShortageTests {
    /// The lines that were logged.
    private final class Lines: Sendable {
        let lines = Mutex<[String]>([])
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(
            level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String,
            function: String, line: UInt
        ) {
            let contents = metadata?["contents"].map { "\($0)" } ?? ""
            lines.lines.withLock { $0.append("\(contents): \(message)") }
        }
    }

    @Test("What is given up is logged once in a shortage, and nothing if nothing is")
    func noted() {
        let lines = Lines()
        let shortages = Shortages(clock: SystemClock(), logger: Logger(label: "test") { _ in Handler(lines: lines) })
        shortages.note((0, 0), isExhausted: false)
        #expect(lines.lines.withLock(\.self) == [])
        #expect(shortages.last == nil)
        shortages.note((0, 0), isExhausted: true)
        #expect(lines.lines.withLock(\.self) == [])
        #expect(shortages.last?.isExhausted == true)
        for _ in 1...2 { shortages.note((3, 100), isExhausted: false) }
        let said = lines.lines.withLock(\.self)
        #expect(said.count == 1 && said.first?.hasPrefix("3: ") == true, "\(said)")
        #expect(shortages.last?.contents == 6)
    }
}
