// The engine is killed in a removal of what has no versions: the deleted area has it, and no fact tells of that yet.

import Foundation
import Glibc
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite("A kill in the removal of what has no versions") struct KilledRemovalTests {
    @Test("What is in the deleted area is in the deleted list after the next mount")
    func removed() throws {
        let served = try ServedContainer()
        try served.makeDirectory("d")
        let state = try served.state().merging(try served.marks(["d"])) { $1 }
        try served.container.removeDirectory(served.caller, parent: Node.rootID, name: Array("d".utf8))
        try served.kill(leaving: state)
        #expect(try entries(served) == ["d": .directory])
        #expect(try served.problems() == [])
    }

    @Test("A directory that was put away for a rename that was not made is in the deleted list")
    func putAway() throws {
        let served = try ServedContainer()
        for name in ["old", "new"] { try served.makeDirectory(name) }
        let state = try served.state().merging(try served.marks(["old", "new"])) { $1 }
        try served.rename("new", to: "old")
        try served.kill(leaving: state) {
            try #require(Glibc.rename("\(served.path)/old", "\(served.path)/new") == 0)
        }
        #expect(try entries(served) == ["old": .directory])
        #expect(try served.problems() == [])
        #expect(try served.row("new") != nil)
    }

    @Test("A file that has changed places with the one that replaces it leaves no second name of its object")
    func replaced() throws {
        let served = try ServedContainer()
        try served.save("f", "one")
        try served.save("new", "two")
        let state = try served.state()
        try served.rename("new", to: "f")
        var kept: [ContentID] = []
        try served.store.contents.forEach { kept.append($0) }
        let object = try #require(kept.first)
        let marks = try served.marks(["f"], contents: [object])
        let path = served.path
        try served.kill(leaving: state.merging(marks) { $1 }) {
            // As between the two calls: the names have been exchanged, at one moment.
            try #require(link("\(path)/.versionsfs/objects/\(object.hex.prefix(2))/\(object.hex)", "\(path)/new") == 0)
            try #require(chmod("\(path)/f", 0o600) == 0)
        }
        #expect(access("\(path)/new", F_OK) != 0)
        #expect(try served.history("f") == ["two", "one"])
        #expect(try served.problems() == [])
    }

    /// The entries of the deleted area that the deleted list has.
    private func entries(_ served: ServedContainer) throws -> [String: EntryType] {
        var found: [String: EntryType] = [:]
        for entry in try served.facts.lists.deleted(limit: 10).elements where entry.detail.isEntry {
            let id = try #require(try served.facts.lists.id(ofDeletion: entry.number))
            let path = "\(served.path)/.versionsfs/deleted/\(id.hex.prefix(2))/\(id.hex)"
            guard access(path, F_OK) == 0 else { continue }
            found[String(decoding: entry.place.name.bytes, as: UTF8.self)] = entry.detail.type
        }
        return found
    }
}
