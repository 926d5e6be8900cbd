// The printed result: a row per workload, a column per directory, ratios to the first column.

import Foundation

struct Table {
    private let places: [String]
    private var rows: [(title: String, unit: Unit, values: [Double])] = []

    init(places: [String]) {
        self.places = places
    }

    mutating func add(_ workload: Workload, _ values: [Double]) {
        rows.append((workload.title, workload.unit, values))
    }

    /// The row that was added last, as a line.
    var lastRow: String { rows.last.map(line) ?? "" }

    /// All rows below their headings, and for each workload who is fastest above the bare directory.
    var text: String {
        let heading = padded("median") + places.map { right($0) }.joined()
        return ([heading] + rows.map(line)).joined(separator: "\n")
    }

    private func line(_ row: (title: String, unit: Unit, values: [Double])) -> String {
        let base = row.values.first ?? .nan
        let cells = row.values.enumerated().map { index, value in
            let ratio = row.unit.isRate ? base / value : value / base
            return right(row.unit.show(value) + (index == 0 ? "" : String(format: " (%.2f)", ratio)))
        }
        return padded(row.title) + cells.joined()
    }

    private func padded(_ text: String) -> String { text + String(repeating: " ", count: max(1, 34 - text.count)) }
    private func right(_ text: String) -> String { String(repeating: " ", count: max(1, 20 - text.count)) + text }
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
