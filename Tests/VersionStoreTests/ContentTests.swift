// Keeping contents and deleted entries: nothing of a file is lost on the way, and labels say what it is.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

struct ContentTests {
    enum Way: CaseIterable { case linking, moving, copying }

    /// A file with everything a file can have: owner, set-id, attributes, an ACL, times, holes.
    private func makeFile(_ fixture: Fixture) throws -> linux_stat {
        let path = fixture.path + "/file"
        let file = open(path, O_RDWR | O_CREAT, 0o600)
        defer { close(file) }
        #expect(pwrite(file, "head", 4, 0) == 4)
        #expect(pwrite(file, "tail", 4, 8 << 20) == 4)
        #expect(fsync(file) == 0)
        if geteuid() == 0 { #expect(fchown(file, 1234, 567) == 0) }
        #expect(fchmod(file, 0o4751) == 0)
        #expect(linux_fsetxattr(file, "user.note", "kept", 4, 0) == 0)
        // Version 2; user:rwx, user 1234:r--, group:r-x, mask:r-x, other:--x.
        let entries: [(UInt16, UInt16, UInt32)] = [
            (1, 7, .max), (2, 4, 1234), (4, 5, .max), (16, 5, .max), (32, 1, .max),
        ]
        var list: [UInt8] = [2, 0, 0, 0]
        for entry in entries {
            withUnsafeBytes(of: entry.0.littleEndian) { list += $0 }
            withUnsafeBytes(of: entry.1.littleEndian) { list += $0 }
            withUnsafeBytes(of: entry.2.littleEndian) { list += $0 }
        }
        #expect(linux_fsetxattr(file, "system.posix_acl_access", list, list.count, 0) == 0)
        let times = [timespec(tv_sec: 1_000_000_001, tv_nsec: 5), timespec(tv_sec: 1_000_000_002, tv_nsec: 6)]
        #expect(futimens(file, times) == 0)
        return try System.extendedStatus("file", in: fixture.root)
    }

    private func attribute(_ path: String, _ name: String) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: 256)
        let count = linux_lgetxattr(path, name, &value, value.count)
        return count < 0 ? nil : Array(value.prefix(count))
    }

    @Test(arguments: Way.allCases)
    func everythingOfAFileIsKept(_ way: Way) throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let before = try makeFile(fixture)
        let list = attribute(fixture.path + "/file", "system.posix_acl_access")
        let version = Records.version(size: before.size)
        let label = ContentStore.Label(
            version: version, path: .root.appending(try name("file")),
            place: Place(directory: .root, name: try name("file")))
        switch way {
        case .linking: try store.contents.keep(linking: try name("file"), in: fixture.root, as: version.content, label)
        case .moving: try store.contents.keep(moving: try name("file"), in: fixture.root, as: version.content, label)
        case .copying:
            let file = try FileDescriptor.open(FilePath(fixture.path + "/file"), .readOnly)
            defer { try? file.close() }
            let copying = try store.contents.keep(copying: file, as: version.content, label)
            #expect(copying == (store.contents.canReflink ? .reflinked : .copied))
            #expect(attribute(fixture.path + "/file", "user.versionsfs.label") == nil, "the original carries a label")
        }
        let (directory, object) = store.contents.name(of: version.content)
        let after = try System.extendedStatus(object, in: directory)
        #expect(after.mode == before.mode && after.user == before.user && after.group == before.group)
        // The label may take a block of its own.
        #expect(after.size == before.size && after.allocated <= before.allocated + 4096)
        #expect(after.allocated < 1 << 20, "holes were filled")
        #expect(after.modification == before.modification)
        #expect(after.accessed.tv_sec == before.accessed.tv_sec && after.accessed.tv_nsec == before.accessed.tv_nsec)
        let path = fixture.path + "/.versionsfs/objects/" + object
        #expect(attribute(path, "user.note") == Array("kept".utf8))
        #expect(list != nil && attribute(path, "system.posix_acl_access") == list)
        #expect(FileManager.default.fileExists(atPath: fixture.path + "/file") == (way != .moving))
        #expect(try store.contents.label(of: version.content) == label)
        #expect(store.space == StateSpace(history: after.allocated, deleted: 0, isComplete: true))
        let kept = try store.contents.open(version.content)
        defer { try? kept.close() }
        var bytes = [UInt8](repeating: 1, count: Int(before.size))
        #expect(pread(kept.rawValue, &bytes, bytes.count, 0) == bytes.count)
        #expect(
            bytes.prefix(5).elementsEqual(Array("head\0".utf8)) && bytes.suffix(5).elementsEqual(Array("\0tail".utf8)))
        try store.contents.remove(version.content)
        #expect(store.space.history == 0 && !store.contents.contains(version.content))
    }

    @Test func severalVersionsMayShareAContent() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        try fixture.write("a", "x")
        let place = Place(directory: .root, name: try name("a"))
        var labels = [Records.version(), Records.version()].map {
            ContentStore.Label(version: $0, path: .root, place: place)
        }
        let id = labels[0].version.content
        labels[1].version.content = id
        try store.contents.keep(moving: try name("a"), in: fixture.root, as: id, labels[0], also: [labels[1]])
        #expect(try store.contents.labels(of: id) == labels)
        // So many that the attribute cannot hold them.
        let many = (0..<40).map { _ in labels[1] }
        try store.contents.relabel(id, labels[0], also: many)
        #expect(try store.contents.labels(of: id) == [labels[0]] + many)
        try store.contents.relabel(id, labels[1])
        #expect(try store.contents.labels(of: id) == [labels[1]])
        var count = 0
        try store.contents.forEach { _ in count += 1 }
        #expect(count == 1)
    }

    @Test func aFailedKeepLeavesNothingBehind() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let version = Records.version()
        let label = ContentStore.Label(
            version: version, path: .root, place: Place(directory: .root, name: try name("x")))
        #expect(throws: Errno.noSuchFileOrDirectory) {
            try store.contents.keep(moving: try name("x"), in: fixture.root, as: version.content, label)
        }
        #expect(throws: Errno.noSuchFileOrDirectory) { try store.contents.label(of: version.content) }
        #expect(throws: Errno.noSuchFileOrDirectory) { try store.contents.remove(version.content) }
        let left = try #require(FileManager.default.enumerator(atPath: fixture.path + "/.versionsfs/objects"))
        #expect(left.allObjects.allSatisfy { ($0 as? String)?.count == 2 })
    }

    @Test(arguments: EntryType.allCases.filter { $0 != .device })
    func aDeletedEntryComesBackAsItWas(_ type: EntryType) throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let path = fixture.path + "/thing"
        switch type {
        case .file: try fixture.write("thing", "text")
        case .directory: #expect(mkdir(path, 0o1755) == 0)
        case .symlink: #expect(symlink("target", path) == 0)
        case .fifo: #expect(mkfifo(path, 0o600) == 0)
        default: #expect(linux_mknodat(fixture.root.rawValue, "thing", S_IFSOCK | 0o600, 0, 0) == 0)
        }
        let before = try System.extendedStatus("thing", in: fixture.root)
        let deletion = Records.deletion(path: "thing", type: type)
        try store.deletedArea.moveIn(try name("thing"), of: fixture.root, deletion)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try store.deletedArea.label(of: deletion.id) == deletion)
        try fixture.write("taken", "other")
        #expect(throws: Errno.fileExists) {
            try store.deletedArea.moveOut(deletion.id, to: try name("taken"), of: fixture.root)
        }
        #expect(try store.deletedArea.label(of: deletion.id) == deletion)
        try store.deletedArea.moveOut(deletion.id, to: try name("back"), of: fixture.root)
        let after = try System.extendedStatus("back", in: fixture.root)
        #expect(after.inode == before.inode && after.mode == before.mode && after.modification == before.modification)
        #expect(attribute(fixture.path + "/back", "user.versionsfs.label") == nil)
        #expect(throws: Errno.noSuchFileOrDirectory) { try store.deletedArea.label(of: deletion.id) }
        let left = try #require(FileManager.default.enumerator(atPath: fixture.path + "/.versionsfs/deleted"))
        #expect(left.allObjects.allSatisfy { ($0 as? String)?.count == 2 })
    }

    @Test func aDeletedFileBecomesAContent() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        try fixture.write("a", "old text")
        let deletion = Records.deletion(path: "a")
        try store.deletedArea.moveIn(try name("a"), of: fixture.root, deletion)
        #expect(store.space.deleted > 0 && store.space.history == 0)
        let version = Records.version()
        let label = ContentStore.Label(version: version, path: deletion.path, place: deletion.place)
        try store.deletedArea.moveToContents(deletion.id, as: version.content, label)
        #expect(try store.contents.label(of: version.content) == label)
        #expect(try fixture.read(try store.contents.open(version.content)) == "old text")
        #expect(throws: Errno.noSuchFileOrDirectory) { try store.deletedArea.label(of: deletion.id) }
        #expect(store.space.deleted == 0 && store.space.history > 0)
    }

    @Test func aDeletedFileDoesNotTakeThePlaceOfALongerContentThatBeginsWithIt() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        try fixture.write("longer", "one and two")
        var version = Records.version(item: .random(), kind: .history, size: 11, wall: 2)
        version.hash = nil
        let place = try fixture.place("longer", store)
        let label = ContentStore.Label(version: version, path: TreePath(names: [place.name]), place: place)
        try store.contents.keep(moving: place.name, in: fixture.root, as: version.content, label)
        try fixture.write("a", "one")
        let deletion = Records.deletion(path: "a")
        try store.deletedArea.moveIn(try name("a"), of: fixture.root, deletion)
        version.size = 3
        try store.deletedArea.moveToContents(
            deletion.id, as: version.content, .init(version: version, path: deletion.path, place: deletion.place))
        #expect(store.isWhole(version))
        version.size = 11
        #expect(store.isWhole(version))
        #expect(throws: Errno.noSuchFileOrDirectory) { try store.deletedArea.label(of: deletion.id) }
    }

    @Test func spaceIsKnownAfterReopeningAndAfterAScan() throws {
        let fixture = try Fixture()
        var store = try fixture.store()
        try fixture.document("a", kinds: [.history, .conflict], in: store)
        let (item, _) = try fixture.document("b", in: store)
        _ = try fixture.delete("b", item, in: store)
        let space = store.space
        #expect(space.history >= 3 * 4096 && space.deleted >= 4096 && space.isComplete)
        fixture.close()
        store = try fixture.store()
        #expect(store.space == space)
        try store.rescanSpace()
        #expect(store.space == space)
    }

    @Test func keepingTakesMicroseconds() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let text = String(repeating: "x", count: 4096)
        let labels = (0..<300).map { _ in
            ContentStore.Label(
                version: Records.version(), path: .root, place: Place(directory: .root, name: Records.unnamed))
        }
        let clock = ContinuousClock()
        // The subdirectories exist after the first few hundred; this is about the steady state.
        for byte in 0..<256 {
            let name = String(byte, radix: 16)
            try System.makeDirectory((name.count == 1 ? "0" : "") + name, in: store.contents.shelf.directory)
        }
        for way in Way.allCases {
            for number in 0..<300 { try fixture.write("f\(number)", text) }
            var taken = Duration.zero
            for (number, label) in labels.enumerated() {
                let name = try name("f\(number)")
                let id = ContentID.random()
                switch way {
                case .linking:
                    taken += try clock.measure {
                        try store.contents.keep(linking: name, in: fixture.root, as: id, label)
                    }
                case .moving:
                    taken += try clock.measure {
                        try store.contents.keep(moving: name, in: fixture.root, as: id, label)
                    }
                case .copying:
                    let file = try FileDescriptor.open(FilePath(fixture.path + "/f\(number)"), .readOnly)
                    taken += try clock.measure { _ = try store.contents.keep(copying: file, as: id, label) }
                    try file.close()
                }
            }
            print("keep \(way) 4 KiB: \(taken / 300)")
        }
        var count = 0
        try store.contents.forEach { _ in count += 1 }
        #expect(count == 900)
    }
}
