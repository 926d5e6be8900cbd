// The minute, as a table.

import Lineage
import Testing
import VersionModel

@Suite("The minute of files that are written in place")
struct MinuteTests {
    /// What happens at which second, and at which seconds there is a version.
    ///
    /// `c` is a change and close by the first program, `d` by another one, `w` a change that is not closed.
    struct Line: Sendable, CustomTestStringConvertible {
        var name: String
        var script: String
        var versions: [Int]
        var size: UInt64 = 2 << 20
        var isDatabase = false

        var testDescription: String { name }
    }

    static let lines = [
        Line(name: "the first change is a version at its close", script: "c0", versions: [0]),
        Line(name: "what follows is one version, when the file is quiet", script: "c0 c1 c2 c3", versions: [0, 8]),
        Line(name: "or when the minute is over", script: "c0 " + every(4, from: 1, to: 57), versions: [0, 60]),
        Line(name: "only one a minute", script: "c0 c1 c20 c40", versions: [0, 6, 60]),
        Line(name: "after a quiet minute a change is a first one again", script: "c0 c70", versions: [0, 70]),
        Line(name: "a change that nobody closes is a version in its minute", script: "c0 w10", versions: [0, 15]),
        Line(name: "another program's change makes what stands a version", script: "c0 w2 d3", versions: [0, 3, 8]),
        Line(name: "a small file has a version at each close", script: "c0 c1 c2", versions: [0, 1, 2], size: 100),
        Line(
            name: "a small database does not", script: "c0 c1 c2", versions: [0, 7], size: 100, isDatabase: true),
        Line(
            name: "nor a small file that is closed too often", script: every(1, from: 0, to: 13),
            versions: Array(0...9) + [18], size: 100),
    ]

    private static func every(_ seconds: Int, from first: Int, to last: Int) -> String {
        stride(from: first, through: last, by: seconds).map { "c\($0)" }.joined(separator: " ")
    }

    @Test("has versions", arguments: lines)
    func versions(_ line: Line) {
        var minute = Minute()
        var versions: [Int] = []
        var steps = line.script.split(separator: " ").compactMap { word in
            word.first.flatMap { kind in Int(word.dropFirst()).map { (kind, $0) } }
        }
        for second in 0...200 {
            let now = Timestamp(nanoseconds: Int64(second) * 1_000_000_000)
            if minute.due.map({ $0 <= now }) ?? false, minute.pass(to: now) { versions.append(second) }
            while let (kind, at) = steps.first, at == second {
                steps.removeFirst()
                if minute.change(by: ActorNumber(kind == "d" ? 2 : 1), at: now) { versions.append(second) }
                if kind == "w" { continue }
                if minute.close(at: now, size: line.size, isDatabase: line.isDatabase) { versions.append(second) }
            }
        }
        #expect(versions == line.versions)
    }
}
