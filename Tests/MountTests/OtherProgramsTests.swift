// Programs of saves.md that do more than save one file: databases that are mapped, and the desktop's trash.

import Foundation
import Support
import Testing

@Suite struct OtherProgramsTests {
    /// As LMDB does: a map that all share, its writer behind a lock on another file, two meta pages that are written by
    /// turns.
    private static let lmdb = """
        import fcntl, mmap, os, struct, sys
        first, count = int(sys.argv[1]), int(sys.argv[2])
        lock = os.open("lock.mdb", os.O_RDWR | os.O_CREAT, 0o644)
        data = os.open("data.mdb", os.O_RDWR | os.O_CREAT, 0o644)
        def exclusively(work):
            fcntl.lockf(lock, fcntl.LOCK_EX, 1, 0)
            try: work()
            finally: fcntl.lockf(lock, fcntl.LOCK_UN, 1, 0)
        def create():
            if os.fstat(data).st_size: return
            os.ftruncate(data, 1 << 16)
            for page in (0, 1): os.pwrite(data, struct.pack("<QHHIII", page, 0, 8, 0, 0xBEEFC0DE, 1), page * 4096)
        exclusively(create)
        pages = mmap.mmap(data, 1 << 16)
        def transaction():
            done = max(struct.unpack_from("<Q", pages, meta * 4096 + 64)[0] for meta in (0, 1)) + 1
            struct.pack_into("<Q", pages, 8192 + 8 * done, number)
            pages.flush()
            struct.pack_into("<Q", pages, done % 2 * 4096 + 64, done)
            pages.flush()
        for number in range(first, first + count): exclusively(transaction)
        """

    /// What a version of it holds, by the newer of its meta pages.
    private func numbers(_ bytes: [UInt8]) -> [UInt64] {
        func word(_ offset: Int) -> UInt64 {
            guard offset + 8 <= bytes.count else { return 0 }
            return bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        let count = max(word(64), word(4096 + 64))
        return count == 0 ? [] : (1...Int(min(count, 1000))).map { word(8192 + 8 * $0) }
    }

    @Test("a database that several programs have mapped: nothing is lost, every version is whole, and none conflicts")
    func mapped() throws {
        try withContainer(named: "lmdb") { container in
            func burst(_ first: Int) throws {
                try shell(
                    "for n in 0 1 2; do python3 -c '\(Self.lmdb)' $((\(first) + 100 * n)) 20 & done; wait",
                    in: container.path)
            }
            func expected(_ first: Int) -> Set<UInt64> {
                Set((0..<3).flatMap { n in (0..<20).map { UInt64(first + 100 * n + $0) } })
            }
            try burst(1000)
            guard container.isVersioned else { return [] }
            let before = try versions(of: "data.mdb", container, atLeast: 1)
            try burst(2000)
            let after = try versions(of: "data.mdb", container, atLeast: before.count + 1)
            var problems: [String] = []
            // Of a burst that a busy machine draws out there may be more than one.
            if after.count <= before.count { problems.append("\(before.count) versions, then \(after.count)") }
            let all = expected(1000).union(expected(2000))
            for version in after {
                let found = numbers(try container.content(of: version))
                let isWhole = Set(found).count == found.count && all.isSuperset(of: found)
                if !isWhole || version.kind == "current" && found.count != all.count {
                    problems.append("\(version.kind) has \(found)")
                }
            }
            if try !container.conflicts().isEmpty { problems.append("there are conflicts") }
            if try !container.deleted().isEmpty { problems.append("something was deleted") }
            return problems + (try container.checkAtRest())
        }
    }

    @Test("gio trash finds no way into the home directory, makes a trash of the mount's own, and history goes along")
    func trash() throws {
        try withContainer(named: "trash", files: ["d/f": "one"]) { container in
            try shell("echo two > d/f", in: container.path)
            let home = try Workplace.fresh("home")
            defer { _ = try? run("rm", ["-rf", home]) }
            try mustRun(
                "gio", ["trash", "f"], in: container.file("d"),
                environment: ["HOME": home, "XDG_DATA_HOME": home + "/data"])
            let trash = ".Trash-\(getuid())"
            var problems: [String] = []
            if container.text(of: trash + "/files/f") != "two\n" {
                problems.append("the trash has \(try container.names())")
            }
            if container.text(of: trash + "/info/f.trashinfo")?.contains("Path=d/f") != true {
                problems.append("nothing says where it was")
            }
            guard container.isVersioned else { return problems }
            let inTrash = try container.history(of: trash + "/files/f").versions.count
            if inTrash != 2 { problems.append("\(inTrash) versions in the trash") }
            if try !container.deleted().isEmpty { problems.append("it is deleted, too") }
            // Put back by hand, it is what it was.
            try shell("mv \(trash)/files/f d/f", in: container.path)
            let history = try container.history(of: "d/f")
            if history.versions.count != 2 { problems.append("\(history.versions.count) versions afterwards") }
            return problems + lineProblems(history)
        }
    }
}
