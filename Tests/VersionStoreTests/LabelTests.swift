// Labels survive a round trip, and no bytes make the decoder trap.

import Testing
import VersionModel

@testable import VersionStore

struct LabelTests {
    private func label() -> ContentStore.Label {
        var version = Records.version()
        version.parents = [.random(), .random()]
        version.base = .random()
        version.hash = Records.hash("x")
        return .init(
            version: version, path: TreePath(bytes: Array("a/b\u{ff}/c".utf8)) ?? .root,
            place: Place(directory: FileID(.max), name: Records.unnamed))
    }

    @Test func aLabelOfContentsSurvivesTheRoundTrip() throws {
        let labels = [label(), label()]
        #expect(try LabelCoding.contents(LabelCoding.encode(labels)) == labels)
    }

    @Test(arguments: EntryType.allCases)
    func aLabelOfADeletionSurvivesTheRoundTrip(_ type: EntryType) throws {
        let deletion = Records.deletion(path: "x/y", item: .random(), type: type)
        #expect(try LabelCoding.deletion(LabelCoding.encode(deletion)) == deletion)
    }

    @Test func eachKindOfLabelIsRefusedAsTheOther() {
        #expect(throws: CodingError.self) { try LabelCoding.deletion(LabelCoding.encode([label()])) }
        #expect(throws: CodingError.self) {
            try LabelCoding.contents(LabelCoding.encode(Records.deletion(path: "x")))
        }
    }

    @Test func aCutLabelIsRefused() {
        let bytes = LabelCoding.encode([label()])
        for length in 0..<bytes.count {
            #expect(throws: CodingError.self) { try LabelCoding.contents(Array(bytes.prefix(length))) }
        }
    }

    /// Ten thousand labels with bytes changed, cut and inserted; the checksum is made right again in half of them, so
    /// that the fields behind it are reached.
    @Test func noBytesMakeTheDecoderTrap() {
        let seed = UInt64.random(in: 0 ... .max)
        print("label fuzz seed", seed)
        var generator = SeededGenerator(seed: seed)
        let originals = [
            LabelCoding.encode([label()]), LabelCoding.encode(Records.deletion(path: "a/b", item: .random())),
        ]
        var accepted = 0
        for round in 0..<10_000 {
            var bytes = originals[round % 2]
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<max(1, bytes.count), using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0 where !bytes.isEmpty: bytes[index] = .random(in: 0...255, using: &generator)
                case 1: bytes = Array(bytes.prefix(index))
                case 2: bytes.insert(.random(in: 0...255, using: &generator), at: min(index, bytes.count))
                default:
                    if !bytes.isEmpty { bytes[index] = [0, 0x7f, 0x80, 0xff].randomElement(using: &generator) ?? 0 }
                }
            }
            if round % 4 < 2, bytes.count >= 4 {
                var writer = ByteWriter()
                writer.fixed(LabelCoding.checksum(bytes.dropLast(4)))
                bytes = bytes.dropLast(4) + writer.bytes
            }
            if (try? LabelCoding.contents(bytes)) != nil { accepted += 1 }
            if (try? LabelCoding.deletion(bytes)) != nil { accepted += 1 }
            var reader = ByteReader(bytes)
            _ = try? reader.change()
        }
        // Some changes hit only values: the fields were reached. Most did not pass.
        #expect(accepted > 100 && accepted < 9_000, "accepted \(accepted)")
    }
}
