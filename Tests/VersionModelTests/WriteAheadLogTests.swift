// A write-ahead log may be any bytes: what is not committed there is nothing. That real ones are read is shown with
// sqlite3 (MountTests.DatabaseTests).

import Testing
import VersionModel

@Suite struct WriteAheadLogTests {
    private func log(_ bytes: [UInt8]) -> WriteAheadLog? {
        WriteAheadLog { offset, count in Array(bytes.dropFirst(Int(clamping: offset)).prefix(count)) }
    }

    @Test func noBytesAreTakenForACommit() {
        let seed = UInt64.random(in: 0...(.max))
        print("write-ahead log fuzz: seed \(seed)")
        var generator = SeededGenerator(state: seed)
        for round in 0..<2000 {
            var bytes = (0..<Int.random(in: 0...3000, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            if round % 2 == 0, bytes.count >= 32 {
                bytes.replaceSubrange(
                    0..<12, with: [0x37, 0x7F, 0x06, 0x82 + UInt8(round & 1), 0, 0x2D, 0xE2, 0x18, 0, 0, 2, 0])
            }
            #expect(log(bytes) == nil)
        }
    }
}
