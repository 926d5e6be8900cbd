// How far long work is, on one line of the terminal that is overwritten.

import ControlProtocol
import Glibc
import Synchronization

/// The line of one command on standard error. It shows only what takes longer than half a second.
final class ProgressLine: Sendable {
    private struct State {
        var last: ContinuousClock.Instant?
        /// What stands before the count: the names that are done.
        var names = ""
    }

    /// Whether a line stands there.
    private static let isShown = Atomic(false)

    private let what: String
    private let begun = ContinuousClock.now
    /// Guards what the thread that reads and the one that asks change.
    private let state = Mutex(State())

    /// - Parameter what: what is done, such as `undeleting`.
    /// - Returns: nil if standard error is no terminal, or the output is JSON.
    init?(_ what: String) {
        guard isatty(2) == 1, !Printer.isJSON else { return nil }
        self.what = what
    }

    /// Shows how many of several names are done; what is shown of the next one stands behind that.
    func show(done: Int, of total: Int) {
        let share = total > 0 ? " (\(Self.percent(UInt64(max(0, done)), of: UInt64(total))) %)" : ""
        let names = "\(done) of \(total)\(share)"
        state.withLock { $0.names = names }
        write("")
    }

    /// What shows how far a call is.
    var listener: @Sendable (ProgressNotification) -> Void {
        { self.show($0) }
    }

    private func show(_ progress: ProgressNotification) {
        let done = progress.unit == "bytes" ? Words.size(progress.done) : "\(progress.done) \(progress.unit)"
        let share = progress.total.map { $0 > 0 ? " (\(Self.percent(progress.done, of: $0)) %)" : "" } ?? ""
        write(done + share)
    }

    /// The whole percents that are done, at most 100.
    static func percent(_ done: UInt64, of total: UInt64) -> UInt64 {
        guard done < total else { return 100 }
        // The product has no room in 64 bits where the numbers are big; the quotient is less than 100.
        return total.dividingFullWidth(done.multipliedFullWidth(by: 100)).quotient
    }

    private func write(_ text: String) {
        let now = ContinuousClock.now
        guard now - begun >= .milliseconds(500) else { return }
        state.withLock { state in
            if let last = state.last, now - last < .milliseconds(100) { return }
            state.last = now
            let words = [state.names, text].filter { !$0.isEmpty }.joined(separator: ", ")
            // What went around the edge would stay there.
            let line = "\(what): \(words)".prefix(max(1, TerminalWidth.ofStandardError() - 1))
            Self.isShown.store(true, ordering: .sequentiallyConsistent)
            try? Files.write(Array("\r\u{1B}[K\(line)".utf8), to: 2, path: nil)
        }
    }

    /// Wipes the line away, if there is one.
    static func clear() {
        guard isShown.exchange(false, ordering: .sequentiallyConsistent) else { return }
        try? Files.write(Array("\r\u{1B}[K".utf8), to: 2, path: nil)
    }
}
