// Labels survive a round trip, and no bytes make the decoder trap.

import Lineage
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

    @Test("A label with numbers that no catalog gives is refused", arguments: [UInt64(1) << 47, .max - 1, .max])
    func impossibleNumbers(_ number: UInt64) throws {
        let (place, file) = (PlaceNumber(1), FileID(7))
        let sound = NameRow(
            number: RowNumber(2), time: .init(nanoseconds: 1), place: place, file: file, how: .created, actor: nil)
        let saved = VersionRow(
            number: VersionNumber(3), time: .init(nanoseconds: 1), row: sound.number,
            content: Content(file: file, generation: 0), fingerprint: Fingerprint(size: 1, high: 1, low: 1), file: file,
            modified: .init(nanoseconds: 1), author: nil)
        func label(_ change: (inout NameRow, inout VersionRow) -> Void) throws -> ContentStore.Label {
            var (row, version) = (sound, saved)
            change(&row, &version)
            var told = FactTransaction([.row(row), .version(version)])
            told.places = [PlaceRecord(number: place, place: Place(directory: .root, name: Records.unnamed))]
            return try ContentStore.Label(FactLabel(epoch: .random(), path: .root, told: told))
        }
        #expect(try label { (_, _) in }.version.size == 1)
        #expect(throws: CodingError.self) { try label { (row, _) in row.from = RowNumber(number) } }
        #expect(throws: CodingError.self) { try label { (row, _) in row.origin = VersionNumber(number) } }
        #expect(throws: CodingError.self) { try label { (row, _) in row.how = .movedAway(to: RowNumber(number)) } }
        #expect(throws: CodingError.self) { try label { (_, version) in version.base = VersionNumber(number) } }
        #expect(throws: CodingError.self) { try label { $1.parents = Parents(VersionNumber(number)) } }
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
