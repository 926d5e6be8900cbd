// A power cut takes the last facts of the engine's container along: what was kept says what is missing.

import Foundation
import Glibc
import Support
import Testing
import VersionModel

@testable import Container

@Suite("A power cut that takes the last facts") struct LostEndTests {
    /// The facts of this moment are all that a later power cut leaves.
    private func durable(_ container: ServedContainer) throws -> [String: Data] {
        var state = try container.state()
        state[MarkFile.name] = nil
        return state
    }

    /// The present marks as another boot finds them.
    private func marks(_ container: ServedContainer) throws -> Data? {
        var marks = try container.state()[MarkFile.name]
        // The checksum of the slot that has the boot.
        marks?.replaceSubrange(0..<8, with: Data(repeating: 0, count: 8))
        return marks
    }

    @Test("What a file held when it was adopted, and was kept of that, is its older version", arguments: [true, false])
    func adopted(isMarked: Bool) throws {
        let container = try ServedContainer(files: ["f": "before"])
        try container.save("other", "one")
        var state = try durable(container)
        let handle = try container.open("f", O_RDWR | O_TRUNC)
        try container.put("after", handle, "f")
        if isMarked { state[MarkFile.name] = try marks(container) }
        try container.kill(leaving: state)
        // Nothing tells that all of the save has come.
        #expect(container.text("f") == "before")
        #expect(try container.history("f") == ["before", "after", "before"])
        #expect(try container.history("other") == ["one"])
        #expect(try container.problems() == [])
        try container.save("f", "later")
        #expect(try container.history("f") == ["later", "before", "after", "before"])
    }

    @Test("The same where nothing at all was recorded before")
    func first() throws {
        let container = try ServedContainer(files: ["f": "before"])
        let state = try durable(container)
        try container.save("f", "after")
        try container.kill(leaving: state)
        #expect(try container.history("f") == ["before", "after", "before"])
        #expect(try container.problems() == [])
    }

    @Test("Each of many contents that were kept since is a version")
    func many() throws {
        let container = try ServedContainer()
        try container.save("f", "0")
        let state = try durable(container)
        for number in 1...6 { try container.save("f", "\(number)") }
        try container.kill(leaving: state)
        #expect(try container.history("f") == ["5"] + (0...6).reversed().map { "\($0)" })
        #expect(try container.problems() == [])
    }
}
