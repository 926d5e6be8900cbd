// The options have the numbers that programs may have stored on other systems.

import FileCoordination
import Testing

@Suite("Coordination options") struct OptionTests {
    @Test("options have Apple's raw values")
    func rawValues() {
        let reading: [NSFileCoordinator.ReadingOptions] = [
            .withoutChanges, .resolvesSymbolicLink, .immediatelyAvailableMetadataOnly, .forUploading,
        ]
        let writing: [NSFileCoordinator.WritingOptions] = [
            .forDeleting, .forMoving, .forMerging, .forReplacing, .contentIndependentMetadataOnly,
        ]
        #expect(reading.map(\.rawValue) == [1, 2, 4, 8])
        #expect(writing.map(\.rawValue) == [1, 2, 4, 8, 16])
    }
}
