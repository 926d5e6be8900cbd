// The merge's files reach diff3 whatever numbers their descriptors have.

@testable import Container
import Foundation
import Glibc
import Support
import Testing

@Suite struct ThreeWayMergeTests {
    @Test("A merge with many descriptors open is a merge still")
    func manyDescriptors() {
        let bytes = { (text: String) in Array(text.utf8) }
        let input = MergeInput(
            mine: bytes("a\n=\n=\nMINE\n"), base: bytes("a\n=\n=\nb\n"), other: bytes("OTHER\n=\n=\nb\n"))
        var held: [Int32] = []
        defer { for descriptor in held { close(descriptor) } }
        for _ in 0..<130 {
            held.append(open("/dev/null", O_RDONLY | O_CLOEXEC))
            // Where the numbers of the three files and those they are moved by meet.
            guard let last = held.last, last > 90 else { continue }
            #expect(ThreeWayMerge.merge(input) == bytes("OTHER\n=\n=\nMINE\n"), "with \(last) descriptors")
        }
    }

    @Test("Texts are merged up to 1 MiB, whichever of the three is bigger")
    func size() {
        let limit = Int(ThreeWayMerge.maximumSize)
        #expect(limit == 1 << 20)
        let long = Array(repeating: UInt8(ascii: "x"), count: limit - 7) + [10]
        let base = Array("b\n".utf8) + long + Array("=\n=\n".utf8)
        #expect(base.count == limit)
        let mine = Array("M\n".utf8) + base.dropFirst(2)
        let other = base.dropLast(2) + Array("O\n".utf8)
        let merged = Array(mine.dropLast(2) + Array("O\n".utf8))
        #expect(ThreeWayMerge.merge(MergeInput(mine: mine, base: base, other: Array(other))) == merged)
        for which in 0..<3 {
            var input = MergeInput(mine: mine, base: base, other: Array(other))
            switch which {
            case 0: input.mine.insert(120, at: 2)
            case 1: input.base.insert(120, at: 2)
            default: input.other.insert(120, at: 2)
            }
            #expect(ThreeWayMerge.merge(input) == nil, "\(which)")
        }
    }

    @Test("A merge that does not end is given up after 2 s, and its program with it")
    func time() throws {
        let place = try Workplace.fresh("merge")
        defer { try? FileManager.default.removeItem(atPath: place) }
        // What it printed by then is nothing to go by.
        try writeProgram(
            place + "/slow", "#!/bin/sh\necho $$ > \(place)/number\necho half\nexec /bin/sleep 60\n")
        let begun = ContinuousClock.now
        #expect(ThreeWayMerge.merge(MergeInput(mine: [10], base: [10], other: [10]), with: place + "/slow") == nil)
        let taken = ContinuousClock.now - begun
        #expect(taken >= .milliseconds(1_900) && taken < .seconds(20), "\(taken)")
        let number = try String(contentsOfFile: place + "/number", encoding: .utf8)
        let process = try #require(Int32(number.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(process, 0) != 0 && errno == ESRCH, "\(process) still runs")
    }

    @Test("An edit that both have made is none to argue about")
    func sameEdit() {
        let bytes = { (text: String) in Array(text.utf8) }
        let input = MergeInput(
            mine: bytes("a\n=\n=\nSAME\n"), base: bytes("a\n=\n=\nb\n"), other: bytes("OTHER\n=\n=\nSAME\n"))
        #expect(ThreeWayMerge.merge(input) == bytes("OTHER\n=\n=\nSAME\n"))
    }
}
