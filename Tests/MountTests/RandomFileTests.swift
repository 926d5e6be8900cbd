// One file under a million operations at random, compared with a model in memory (Tests/Posix/fsx.py).

import Foundation
import Support
import Testing

@Suite struct RandomFileTests {
    private func hammer(asUser user: UInt32?) throws {
        let seed = UInt32.random(in: 0 ... .max)
        let count = Workplace.count(1_000_000)
        print("RandomFileTests: seed \(seed), \(count) operations")
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Posix/fsx.py")
            .standardized.path
        let seconds = Workplace.isFull ? 3600.0 : 900
        try withContainer(named: "fsx", asUser: user, seconds: seconds) { container in
            let words = ["-B", script, container.file("file"), "\(seed)", "\(count)"]
            let output = try run("/usr/bin/python3", words, asUser: user, seconds: seconds)
            return output.status == 0 ? [] : ["seed \(seed): \(output.text)\n\(output.errors)"]
        }
    }

    @Test("Random reads, writes, truncations, mappings and copies of one file agree with a model, passed through")
    func passedThrough() throws { try hammer(asUser: nil) }

    @Test("The same without passthrough, as an ordinary user mounts")
    func cached() throws { try hammer(asUser: 65534) }
}
