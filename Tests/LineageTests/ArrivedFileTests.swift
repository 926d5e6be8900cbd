// Which files a kill or a power cut has left in parts.

import Lineage
import Testing

@Suite("Files after a kill or a power cut")
struct ArrivedFileTests {
    private static func file(_ known: WritableKeyPath<ArrivedFile, Bool>...) -> ArrivedFile {
        var file = ArrivedFile()
        for fact in known { file[keyPath: fact] = true }
        return file
    }

    @Test("One that was saved, and has other bytes although nothing has touched it since, is torn")
    func torn() {
        #expect(Self.file(\.isUntouched).isTorn)
        #expect(Self.file(\.lacksBlocks).isTorn)
        #expect(!Self.file().isTorn)
    }

    @Test("One that was overwritten since its content was kept is torn, if no label tells that it was synchronized")
    func overwritten() {
        #expect(Self.file(\.isLastKept).isTorn)
        #expect(!Self.file(\.isLastKept, \.beginsWithSynchronized).isTorn)
        // What was synchronized before the last version was saved tells nothing of that.
        #expect(Self.file(\.isUntouched, \.beginsWithSynchronized).isTorn)
    }

    @Test("One that goes on behind its kept content was appended to, if the daemon alone was killed")
    func appended() {
        #expect(Self.file(\.isLastKept, \.beginsWithLast, \.isLonger).isTorn)
        #expect(!Self.file(\.isLastKept, \.beginsWithLast, \.isLonger, \.isAppended).isTorn)
        #expect(Self.file(\.isLastKept, \.isLonger, \.isAppended).isTorn)
    }

    @Test("One with the bytes of a version is whole, and a database is left alone")
    func whole() {
        for known: WritableKeyPath<ArrivedFile, Bool> in [\.beginsWithLast, \.isVersion, \.isLeftAlone] {
            #expect(!Self.file(known, \.isLastKept, \.isUntouched, \.lacksBlocks).isTorn)
        }
    }
}
