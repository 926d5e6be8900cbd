// The tree that is unpacked: as many files, directories and sizes as a middling source repository, made from a fixed
// seed.

import Foundation
import Support

struct SourceTree {
    let archive: String
    private let place: String

    /// Makes an archive of so many files, 12 to a directory, between 100 bytes and 20 KiB.
    init(files: Int) throws {
        place = try Workplace.fresh("bench-source")
        archive = place + "/tree.tar"
        let tree = place + "/tree"
        var state: UInt64 = 42
        for number in 0..<files {
            let directory = "\(tree)/d\(number / 144)/e\(number / 12 % 12)"
            if number % 12 == 0 {
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            }
            // A linear congruential step (Knuth's MMIX): equal trees on every machine.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let length = 100 + Int((state >> 33) % 20_000) * Int((state >> 20) % 100) / 100
            let line = "line \(number) of a generated source file, with some text to search in\n"
            let text = String(repeating: line, count: length / line.utf8.count + 1)
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/file\(number).txt"))
        }
        try mustRun("tar", ["-C", place, "-cf", archive, "tree"])
    }

    func remove() {
        _ = try? run("rm", ["-rf", place])
    }
}
