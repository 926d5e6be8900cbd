// What has not arrived of a file that had grown.

import Testing
import VersionModel

@Suite struct LostBlocksTests {
    private static let whole = [UInt8](repeating: 7, count: LostBlocks.size)

    private func block(_ bytes: Int, thenZeros zeros: Int) -> [UInt8] {
        [UInt8](repeating: 7, count: bytes) + [UInt8](repeating: 0, count: zeros)
    }

    @Test("a block of zeros has not arrived, one that is written to its end has")
    func wholeBlocks() {
        #expect(LostBlocks.isLost(block(0, thenZeros: 4096), at: 8192, lengths: []))
        #expect(!LostBlocks.isLost(Self.whole, at: 8192, lengths: [8192, 9000]))
        #expect(!LostBlocks.isLost([], at: 8192, lengths: [8192]))
    }

    @Test("of the block in which a file had ended, what follows that end has not arrived if it is zeros")
    func behindAnEnd() {
        #expect(LostBlocks.isLost(block(577, thenZeros: 3519), at: 12_288, lengths: [12_865]))
        #expect(LostBlocks.isLost(block(577, thenZeros: 4), at: 12_288, lengths: [12_300, 12_865, 20_000]))
        #expect(!LostBlocks.isLost(block(578, thenZeros: 3518), at: 12_288, lengths: [12_865]))
    }

    @Test("zeros at the end of a block say nothing where no end of the file is known", arguments: [[], [0], [16_384]])
    func elsewhere(lengths: [UInt64]) {
        #expect(!LostBlocks.isLost(block(577, thenZeros: 3519), at: 12_288, lengths: lengths))
    }
}
