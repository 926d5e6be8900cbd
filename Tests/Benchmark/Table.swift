// The printed result: a row per workload, a column per directory, ratios to the first column.

import Foundation

struct Table {
    private let places: [String]
    private var rows: [(title: String, unit: Unit, bar: Bar, values: [Double])] = []

    init(places: [String]) {
        self.places = places
    }

    mutating func add(_ workload: Workload, _ values: [Double]) {
        rows.append((workload.title, workload.unit, workload.bar, values))
    }

    /// The row that was added last, as a line.
    var lastRow: String { rows.last.map(line) ?? "" }

    /// All rows below their headings, each with whether its bar is reached.
    var text: String {
        let heading = padded("median") + places.map { right($0) }.joined()
        return ([heading] + rows.map(line)).joined(separator: "\n")
    }

    /// The workloads whose bar is missed.
    var misses: [String] {
        rows.compactMap { row in
            guard let verdict = row.bar.verdict(row.values, row.unit), !verdict.isReached else { return nil }
            return "\(row.title) (\(verdict.text))"
        }
    }

    private func line(_ row: (title: String, unit: Unit, bar: Bar, values: [Double])) -> String {
        let base = row.values.first ?? .nan
        let cells = row.values.enumerated().map { index, value in
            let ratio = row.unit.isRate ? base / value : value / base
            return right(row.unit.show(value) + (index == 0 ? "" : String(format: " (%.2f)", ratio)))
        }
        let verdict = row.bar.verdict(row.values, row.unit).map { ($0.isReached ? "  ok     " : "  MISSED ") + $0.text }
        return padded(row.title) + cells.joined() + (verdict ?? "")
    }

    private func padded(_ text: String) -> String { text + String(repeating: " ", count: max(1, 34 - text.count)) }
    private func right(_ text: String) -> String { String(repeating: " ", count: max(1, 20 - text.count)) + text }
}

/// What a workload is to reach.
enum Bar {
    /// As fast as the faster of those it is compared with.
    case rivals
    /// So much of the bare directory's rate.
    case bare(Double)
    /// At most so many seconds.
    case seconds(Double)
    /// Nothing: it is shown only.
    case none

    /// What was reached; `values` are those of the bare directory, of ours, and of the rivals. Nil if there is no bar,
    /// or nobody to compare with.
    func verdict(_ values: [Double], _ unit: Unit) -> (isReached: Bool, text: String)? {
        guard values.count > 1 else { return nil }
        switch self {
        case .rivals:
            let rivals = values.dropFirst(2)
            guard let best = unit.isRate ? rivals.max() : rivals.min() else { return nil }
            let ratio = unit.isRate ? best / values[1] : values[1] / best
            return (ratio <= 1, String(format: "%.2f of the faster rival", ratio))
        case .bare(let part):
            let ratio = unit.isRate ? values[1] / values[0] : values[0] / values[1]
            return (ratio >= part, String(format: "%.3f of bare", ratio))
        case .seconds(let most):
            return (values[1] <= most, String(format: "at most %.0f ms", most * 1e3))
        case .none: return nil
        }
    }
}

/// What a workload's number means.
enum Unit {
    /// Seconds for the whole workload.
    case milliseconds
    /// Seconds for one operation.
    case microseconds
    /// Bytes per second.
    case rate

    var isRate: Bool { self == .rate }

    func show(_ value: Double) -> String {
        switch self {
        case .milliseconds: String(format: "%.1f ms", value * 1e3)
        case .microseconds: String(format: "%.1f us", value * 1e6)
        case .rate: String(format: "%.2f GB/s", value / 1e9)
        }
    }
}
