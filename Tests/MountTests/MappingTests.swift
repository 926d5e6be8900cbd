// Shared mappings that outlive close(2): the content that the close has acknowledged stays as it was, and content that
// is stored later is a version of its own.

import CTestSupport
import Foundation
import Support
import Testing

@Suite struct MappingTests {
    /// Where the container lies.
    enum Ground: String, CaseIterable {
        case own, xfs, btrfs, tmpfs

        /// Runs a test on it.
        func with(_ body: (String) throws -> Void) throws {
            switch self {
            case .own: try body(Workplace.root)
            case .xfs: try withFileSystem(.xfs, megabytes: 300, body: body)
            case .btrfs: try withFileSystem(.btrfs, megabytes: 200, body: body)
            case .tmpfs: try inMemory(body)
            }
        }

        private func inMemory(_ body: (String) throws -> Void) throws {
            let place = try Workplace.fresh(rawValue)
            defer {
                umount2(place + "/at", VFS_MNT_DETACH)
                try? FileManager.default.removeItem(atPath: place)
            }
            _ = try shell("mkdir at && mount -t tmpfs -o size=64m none at && chmod 755 at", in: place)
            try body(place + "/at")
        }
    }

    private static let size = 8192
    private static let there = String(repeating: "o", count: size)

    /// The first letters of all versions, oldest first, as the mount shows them.
    private func versions(_ container: TestContainer) throws -> [String] {
        let line = "for x in .versions/f/history/*; do [ -e \"$x\" ] && head -c 4 \"$x\" && echo; done; head -c 4 f"
        let output = try run(
            "sh", ["-c", "cd \"$0\" && { \(line); }", container.path], in: "/", asUser: container.user, seconds: 60)
        return output.text.split(separator: "\n").map(String.init)
    }

    /// Waits until the versions are these, as long as a busy machine may take; the promise is 6 s.
    private func expect(versions expected: [String], _ container: TestContainer, from line: Int = #line) throws {
        let deadline = Deadline.after(seconds: 40)
        var found = try versions(container)
        while found.sorted() != expected.sorted(), !deadline.isOver {
            _ = Deadline.after(seconds: 0.1).poll([])
            found = try versions(container)
        }
        if found.sorted() != expected.sorted() { throw Failure("line \(line): versions \(found), not \(expected)") }
    }

    /// The kept contents, looked at beneath the mount.
    private func kept(beneath: Int32) throws -> [String] {
        let line = "find /proc/\(getpid())/fd/\(beneath)/.versionsfs/objects -type f"
        return try run("sh", ["-c", line]).text.split(separator: "\n").map(String.init)
    }

    /// Waits until that many contents are kept.
    private func awaitKept(beneath: Int32, _ isEnough: (Int) -> Bool) throws {
        let deadline = Deadline.after(seconds: 40)
        while try !isEnough(kept(beneath: beneath).count), !deadline.isOver {
            _ = Deadline.after(seconds: 0.1).poll([])
        }
        let found = try kept(beneath: beneath)
        if !isEnough(found.count) { throw Failure("kept are \(found)") }
    }

    private func map(_ actor: ActorProcess) throws {
        try actor.must("open", "f", "f", "rw")
        try actor.must("map", "m", "f", "\(Self.size)")
    }

    @Test("Stores after the close leave the acknowledged version alone", arguments: Ground.allCases)
    func afterClose(ground: Ground) throws {
        try ground.with { base in
            try withContainer(named: "mapping", on: base, files: ["f": Self.there]) { container in
                try container.unmount()
                let beneath = open(container.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                defer { close(beneath) }
                try container.mount()
                let actor = try ActorProcess("mapper", in: container.path)
                // A file that was there before: nothing is written before the close.
                try map(actor)
                try actor.must("close", "f")
                try actor.must("store", "m", "0", "1111")
                try expect(versions: ["oooo", "1111"], container)
                // Again, into a page that may still be waiting to be written.
                try actor.must("store", "m", "0", "2222")
                try expect(versions: ["oooo", "1111", "2222"], container)
                try actor.must("unmap", "m")
                // A file with a version of this very handle.
                try actor.must("open", "f", "f", "rw")
                try actor.must("write", "f", "3333", "0")
                try actor.must("map", "m", "f", "\(Self.size)")
                try actor.must("store", "m", "4096", "x")
                try actor.must("close", "f")
                try expect(versions: ["oooo", "1111", "2222", "3333"], container)
                try awaitKept(beneath: beneath) { $0 >= 4 }
                try actor.must("store", "m", "0", "4444")
                try expect(versions: ["oooo", "1111", "2222", "3333", "4444"], container)
                try actor.must("store", "m", "0", "5555")
                try actor.must("unmap", "m")
                try expect(versions: ["oooo", "1111", "2222", "3333", "4444", "5555"], container)
                return try container.checkFindings()
            }
        }
    }

    @Test("A mapping that is alive in the next mount goes on making versions")
    func nextMount() throws {
        try withContainer(named: "mapping", files: ["f": Self.there]) { container in
            let actor = try ActorProcess("mapper", in: "/")
            try actor.must("cd", container.path)
            try map(actor)
            try actor.must("close", "f")
            try actor.must("cd", "/")
            try actor.must("store", "m", "0", "1111")
            try expect(versions: ["oooo", "1111"], container)
            try container.kill()
            try actor.must("store", "m", "0", "2222")
            try container.mount()
            try expect(versions: ["oooo", "1111", "2222"], container)
            try actor.must("store", "m", "0", "3333")
            try expect(versions: ["oooo", "1111", "2222", "3333"], container)
            try actor.must("unmap", "m")
            return try container.checkFindings()
        }
    }

    @Test("Nobody has to look at the file in the next mount for that")
    func nextMountUnseen() throws {
        try withContainer(named: "mapping", files: ["d/f": Self.there]) { container in
            let actor = try ActorProcess("mapper", in: "/")
            try actor.must("open", "f", container.file("d/f"), "rw")
            try actor.must("map", "m", "f", "\(Self.size)")
            try actor.must("close", "f")
            try actor.must("store", "m", "0", "1111")
            let deadline = Deadline.after(seconds: 60)
            func saved() throws -> Int { try container.history(of: "d/f").versions.count }
            while try saved() < 2, !deadline.isOver { _ = Deadline.after(seconds: 0.1).poll([]) }
            try container.kill()
            let watching = Deadline.after(seconds: 60)
            try container.mount()
            let before = try container.history(of: "d/f").versions.count
            try actor.must("store", "m", "0", "2222")
            // The catalog is asked, which looks no file up.
            while try saved() == before, !watching.isOver { _ = Deadline.after(seconds: 0.1).poll([]) }
            let found = try saved()
            try actor.must("unmap", "m")
            return (found > before ? [] : ["\(found) versions as before"]) + (try container.checkFindings())
        }
    }

    @Test("The same in a user's own mount, where nothing passes through")
    func ownMount() throws {
        let user: UInt32 = 65534
        try withContainer(named: "mapping", asUser: user, files: ["f": Self.there]) { container in
            let actor = try ActorProcess("mapper", in: "/", asUser: user)
            try actor.must("cd", container.path)
            try actor.must("open", "f", "f", "rw")
            try actor.must("write", "f", "1111", "0")
            try actor.must("map", "m", "f", "\(Self.size)")
            try actor.must("close", "f")
            try expect(versions: ["oooo", "1111"], container)
            try actor.must("store", "m", "0", "2222")
            try expect(versions: ["oooo", "1111", "2222"], container)
            try actor.must("store", "m", "0", "3333")
            try actor.must("unmap", "m")
            try expect(versions: ["oooo", "1111", "2222", "3333"], container)
            try actor.must("cd", "/")
            return try container.checkFindings(asUser: user)
        }
    }

    @Test("Who opens a file to read and write and changes nothing leaves nothing behind")
    func nothingLeft() throws {
        try withContainer(named: "mapping", files: ["f": Self.there]) { container in
            try container.unmount()
            let beneath = open(container.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(beneath) }
            try container.mount()
            let actor = try ActorProcess("mapper", in: container.path)
            try map(actor)
            try actor.must("unmap", "m")
            try actor.must("close", "f")
            try awaitKept(beneath: beneath) { $0 == 0 }
            return []
        }
    }
}
