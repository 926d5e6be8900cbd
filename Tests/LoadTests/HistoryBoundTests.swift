// A file that is saved thousands of times: its history is at its bound then, and every save makes room for the next.

import Foundation
import Support
import Testing

@Suite(.serialized) struct HistoryBoundTests {
    private static let length = 64
    /// What the content of a version takes, at least.
    private static let block = 4096
    /// So many versions are within the bound.
    private static let kept = Workplace.count(40_000)

    /// What is left of a long history is looked through for what went back to a version that goes: for many of them at
    /// once. If each had that to itself, a save would take as long as its file has versions.
    @Test("Who saves a file again and again does not wait for what its bound takes away")
    func savesAtTheBound() throws {
        // ext4 looks long for an inode where many went within 5 s: that is not ours.
        let memory = try Workplace.fresh("memory")
        try mustRun("mount", ["-t", "tmpfs", "-o", "size=2g", "none", memory])
        defer { _ = try? run("umount", ["-l", memory], seconds: 10) }
        try withContainer(
            named: "long", on: memory, settings: ["history.share": "\((Self.kept * Self.block) >> 20)MiB"], seconds: 600
        ) { container in
            let writer = try ActorProcess("writer", in: container.path, seconds: 500)
            var saved = 0
            func save(_ count: Int) throws -> Duration {
                saved += 1
                let start = ContinuousClock.now
                try writer.must("patterns", "f", String(saved), String(count), String(Self.length))
                return ContinuousClock.now - start
            }
            let below = try save(Self.kept / 2)
            _ = try save(Self.kept)
            let beyond = try save(Self.kept / 2)
            print("HistoryBoundTests: \(below) for \(Self.kept / 2) saves, \(beyond) with the history at its bound")
            guard container.isVersioned else { return [] }
            let versions = try container.history(of: "f").versions.count
            return (beyond > below * 8 ? ["\(Self.kept / 2) saves: \(below), at the bound \(beyond)"] : [])
                + (versions > Self.kept + 2 || versions < Self.kept / 2 ? ["\(versions) versions"] : [])
        }
    }
}
