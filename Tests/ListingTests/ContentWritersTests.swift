// The Custodian is the only writer of contents: this looks for others in the sources.

import Foundation
import Testing

@Suite struct ContentWritersTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    /// Calls of the store of contents that change no object. A call that is not listed counts as one that does.
    private static let harmless: Set = [
        "allocated", "contains", "forEach", "hasten", "label", "labels", "letGoOfRemoved", "name", "open", "place",
        "settle", "settleUnseen", "synchronizing", "takeOverWriting",
    ]

    private func sources(below top: String) throws -> [(path: String, text: String)] {
        try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: top).path).sorted()
            .filter { $0.hasSuffix(".swift") }.map { file in
                let path = top + "/" + file
                return (path, try String(contentsOf: Self.root.appending(path: path), encoding: .utf8))
            }
    }

    @Test("No code above the store changes what is among the objects, but for the Custodian")
    func onlyOne() throws {
        let store = try sources(below: "Sources/VersionStore")
        let calls = Set(
            store.filter { $0.path.contains("/ContentStore") }.flatMap { file in
                file.text.matches(of: #/\ public\ func\ (\w+)/#).map { String($0.1) }
            }
        ).subtracting(Self.harmless)
        #expect(calls == ["keep", "relabel", "remove", "beginning", "drop", "put"])
        let places = Set(
            try ["Sources", "Mount", "Examples"].flatMap { try sources(below: $0) }.filter { file in
                guard !file.path.hasPrefix("Sources/VersionStore/") else { return false }
                return file.text.contains(#/move(?:To|From)Contents/#)
                    || file.text.matches(of: #/contents\s*\.\s*(\w+)[(\ ]/#).contains { calls.contains(String($0.1)) }
            }.map(\.path))
        #expect(places.allSatisfy { $0.hasPrefix("Sources/Container/Custodian/") }, "\(places.sorted())")
        #expect(!places.isEmpty, "no writer was found: has the store changed?")
    }
}
