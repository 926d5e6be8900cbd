// This build beside an older one, with the older one twice: the second is the control, which shows the noise.

import Foundation

struct Comparison {
    private var rows: [Row] = []

    /// The ratios of one workload, a row for each round: this build and the control, both beside the older build.
    private struct Row {
        var title: String
        var before: String
        var this: Spread
        var control: Spread

        /// Whether more than noise makes it slower than an older build may be: the whole 95 % interval of its ratio
        /// is above that.
        var isSlower: Bool { this.interval.lower > Comparison.tolerated }
    }

    /// The ratio up to which a build counts as no slower.
    static let tolerated = 1.03

    mutating func add(_ workload: Workload, before: [Double], this: [Double], control: [Double]) {
        func spread(_ values: [Double]) -> Spread {
            Spread(zip(values, before).map { workload.unit.isRate ? $1 / $0 : $0 / $1 })
        }
        rows.append(
            Row(
                title: workload.title, before: workload.unit.show(median(before)), this: spread(this),
                control: spread(control)))
    }

    /// The row that was added last, as a line.
    var lastRow: String {
        guard let row = rows.last else { return "" }
        let verdict = row.isSlower ? "SLOWER" : "ok"
        return row.title.padding(toLength: 28, withPad: " ", startingAt: 0)
            + "  before " + row.before.padding(toLength: 12, withPad: " ", startingAt: 0)
            + "  this \(row.this.text)  control \(row.control.text)  \(verdict)"
    }

    /// The workloads that this build does more slowly.
    var slower: [String] { rows.filter(\.isSlower).map { "\($0.title) (\($0.this.text))" } }
}

/// The median of some ratios, their quartiles, and the interval in which the median lies with 95 %.
struct Spread {
    let median: Double
    let quartiles: (lower: Double, upper: Double)
    let count: Int

    init(_ values: [Double]) {
        let sorted = values.sorted()
        median = sorted.isEmpty ? .nan : Bench.median(sorted)
        quartiles = sorted.isEmpty ? (.nan, .nan) : (sorted[sorted.count / 4], sorted[(3 * sorted.count) / 4])
        count = sorted.count
    }

    /// The standard error of the median of ratios that spread as a normal distribution does: 1.253 s / sqrt(n). The
    /// quartiles give s, for single outliers do not move them.
    var error: Double { 1.253 * (quartiles.upper - quartiles.lower) / 1.349 / Double(max(count, 1)).squareRoot() }

    var interval: (lower: Double, upper: Double) { (median - 1.96 * error, median + 1.96 * error) }

    var text: String { String(format: "%.3f (%.3f to %.3f)", median, interval.lower, interval.upper) }
}
