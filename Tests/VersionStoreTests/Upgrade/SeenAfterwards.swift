// What users see of an upgraded container, compared with what the store of format 1 shows.

import Glibc
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

struct SeenAfterwards {
    let store: VersionStore
    let facts: FactStore
    let history: FactHistory

    /// Deleted files become objects first.
    init(_ store: VersionStore) throws {
        self.store = store
        facts = try FactStore(of: store.base)
        history = FactHistory(facts, of: store.base)
        try EntryMoves(facts, store.base).run()
    }

    func expectSame(_ comment: Comment) throws {
        for item in try store.allItems() {
            try expectSameVersions(item, comment)
            guard let seen = try history.item(item.id) else {
                Issue.record("\(comment): no item \(item.id)")
                continue
            }
            #expect(Set(seen.places) == Set(item.places), comment)
            #expect(try facts.version(seen.current) == facts.version(item.current), comment)
        }
        try expectSameDeletions(comment)
        let settings = ["adopted", "retention-clock", "clock"]
        for key in settings { #expect(try facts.setting(key) == store.setting(key), comment) }
    }

    private func expectSameVersions(_ item: Item, _ comment: Comment) throws {
        let (former, seen) = (try store.versions(of: item.id), try history.versions(of: item.id))
        #expect(try former.map { try facts.version($0.id) } == seen.map { try facts.version($0.id) }, comment)
        for (version, own) in zip(former, seen) {
            let comment = Comment("\(comment): \(version.id)")
            #expect(own.item == version.item && own.kind == version.kind && own.size == version.size, comment)
            #expect(own.saved == version.saved && own.modified == version.modified, comment)
            #expect(own.author == version.author && own.attributes == version.attributes, comment)
            #expect(own.hash == version.hash, comment)
            for flag: Version.Flags in [.pinned, .unfinished] {
                #expect(own.flags.contains(flag) == version.flags.contains(flag), comment)
            }
            #expect(own.flags.contains(.contentLost) || !version.flags.contains(.contentLost), comment)
            // The copy that a document began with is its original now, with the original's parents.
            if own.id != version.id { continue }
            let parents = try version.parents.filter { try store.version($0) != nil }
            guard parents.count == version.parents.count, parents.count < 3 else { continue }
            #expect(try own.parents.map { try facts.version($0) } == parents.map { try facts.version($0) }, comment)
        }
        let conflicts = former.filter { $0.kind == .conflict && $0.id != item.current }
        #expect(try history.conflicts(of: item.id).map(\.id) == conflicts.map(\.id), comment)
    }

    private func expectSameDeletions(_ comment: Comment) throws {
        let former = Dictionary(uniqueKeysWithValues: try store.deletions(within: nil).map { ($0.id, $0) })
        for seen in try history.deletions(within: nil) {
            // What was renamed over others is listed now, too.
            guard let deletion = former[seen.id] else { continue }
            let comment = Comment("\(comment): \(deletion.path)")
            #expect(seen.place == deletion.place && seen.path == deletion.path, comment)
            #expect(seen.type == deletion.type && seen.deleted == deletion.deleted, comment)
            #expect(seen.author == deletion.author, comment)
            #expect(seen.parentAccessed == deletion.parentAccessed, comment)
            #expect(seen.parentModified == deletion.parentModified, comment)
            if deletion.type == .file { #expect(seen.file == deletion.file, comment) }
            if let item = deletion.item, deletion.type == .file { #expect(seen.item == item, comment) }
        }
    }

    /// Every version that is not lost has its bytes: in an object, or in the file that a name has.
    func expectContents(_ comment: Comment) throws {
        for item in try store.allItems() {
            for version in try history.versions(of: item.id) where !version.flags.contains(.contentLost) {
                let isKept = store.contents.contains(version.content)
                let names = try history.lists.look { look in
                    look.stored.names(of: FileID(version.content.high)).count
                }
                #expect(isKept || names > 0 && version.content.low == 0, "\(comment): \(version.id)")
            }
        }
        for deletion in try store.deletions(within: nil) where deletion.type == .file || deletion.type == .link {
            let (directory, name) = store.deletedArea.place(of: deletion.id)
            let isThere = (try? System.status(name, in: directory)) != nil
            #expect(!isThere, "\(comment): the entry of \(deletion.path) is there")
        }
    }
}
