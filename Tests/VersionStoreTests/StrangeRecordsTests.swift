// Records that the daemon did not write: numbers that no file, container or call of ours has are refused, or brought
// into range.

import Glibc
import Testing
import VersionModel

@testable import VersionStore

struct StrangeRecordsTests {
    @Test func aSizeThatNoFileHasIsRefused() throws {
        for size in [UInt64(Int64.max) + 1, .max] {
            let label = ContentStore.Label(
                version: Records.version(size: size), path: .root,
                place: Place(directory: .root, name: Records.unnamed))
            #expect(throws: CodingError.self) { try LabelCoding.contents(LabelCoding.encode([label])) }
            var deletion = Records.deletion(path: "x")
            deletion.size = size
            #expect(throws: CodingError.self) { try LabelCoding.deletion(LabelCoding.encode(deletion)) }
            var item = Records.item(Records.unnamed)
            item.file.size = size
            var writer = ByteWriter()
            writer.mutation(.item(item))
            var reader = ByteReader(writer.bytes)
            #expect(throws: CodingError.self) { try reader.mutation() }
        }
    }

    @Test func aModeHasNothingButPermissions() throws {
        var deletion = Records.deletion(path: "x")
        deletion.attributes.mode = .max
        #expect(try LabelCoding.deletion(LabelCoding.encode(deletion)).attributes.mode == 0o7777)
    }

    @Test func anEpochBeyondCountingIsDamage() {
        let line = FormatLine(container: .random(), device: .random(), epoch: .max, location: "0:1:2")
        guard case .damaged = FormatLine.read(line.text) else {
            Issue.record("it was taken")
            return
        }
    }

    @Test func sumsEndWhereTheNumbersDo() {
        for (restored, added) in [(Int64.max, Int64.max), (.min, .min), (.max, .min)] {
            let meter = SpaceMeter()
            meter.restore(restored)
            for _ in 0..<12 { meter.added([48, 48, 0], allocated: added) }
            meter.removed([48, 48, 0], allocated: added == .min ? .max : added)
            #expect(meter.value.bytes >= 0)
        }
    }

    @Test func aRedoLogOfStrangeNumbersIsPassedOver() throws {
        let fixture = try Fixture()
        _ = try fixture.document("a.txt", in: try fixture.store())
        fixture.close()
        let state = try System.openBeneath(".versionsfs", in: fixture.root, O_RDONLY | O_DIRECTORY)
        defer { System.close(state) }
        let log = try RedoLog(in: state)
        try log.append(RedoLog.encode([.setting(key: "x", value: [1])]), number: .max)
        log.end()
        #expect(RedoLog.calls(in: state, after: 0).calls.isEmpty)
        #expect(try fixture.store().setting("x") == nil)
    }
}
