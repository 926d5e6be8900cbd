// What becomes of a file that another one is renamed over.

import CTestSupport
import Foundation
import Support
import Testing

@Suite struct DisplacedFileTests {
    @Test("A file that was open for reading and writing and is not any more becomes the object itself, without a copy")
    func linked() throws {
        let numbers = Array(1...5)
        try withContainer(named: "linked") { container in
            guard container.isVersioned else { return [] }
            // Too big to be copied when it is opened.
            let make = "for i in 1 2 3 4 5; do head -c 3000000 /dev/zero > f$i; echo other > g$i; done"
            try shell(make, in: container.path)
            try container.unmount()
            let before = try numbers.map { try inode(container.file("f\($0)")) }
            try container.mount()
            try openAndReplace(numbers, container)
            try container.unmount()
            let objects = try shell("find .versionsfs/objects -type f -printf '%i\\n'", in: container.path).text
            let kept = Set(objects.split(separator: "\n").compactMap { UInt64($0) })
            return kept.isDisjoint(with: before) ? ["all were copied: \(before) are not among \(kept)"] : []
        }
    }

    private func openAndReplace(_ numbers: [Int], _ container: TestContainer) throws {
        let program = try ActorProcess("program", in: container.path)
        for number in numbers {
            try program.must("open", "h", "f\(number)", "rw")
            try program.must("close", "h")
        }
        // The kernel tells us of a close later than the program: of the first ones we have heard by then.
        for number in numbers { try program.must("rename", "g\(number)", "f\(number)") }
    }

    private func inode(_ path: String) throws -> UInt64 {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw Failure.call("lstat \(path)") }
        return UInt64(status.st_ino)
    }
}
