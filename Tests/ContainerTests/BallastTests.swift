// The reserve for records on a file system that is full.

import Glibc
import Support
import SystemPackage
import Testing

@testable import VersionStore

@Suite("The ballast") struct BallastTests {
    private static let block = [UInt8](repeating: 7, count: 4096)
    private static let records = 40

    @Test(
        "It comes back but for what records have taken", .enabled(if: geteuid() == 0, "a file system takes root"),
        arguments: [FileSystemType.ext4, .xfs])
    func comesBack(_ type: FileSystemType) throws {
        try withFileSystem(type, megabytes: 320) { path in
            let directory = try FileDescriptor.open(path, .readOnly, options: .directory)
            defer { try? directory.close() }
            let ballast = Ballast(in: directory, readOnly: false)
            let most = try reserved(path)
            #expect(most == 2 << 20)
            let records = try file("\(path)/records")
            defer { try? records.close() }
            let filler = try file("\(path)/filler")
            while (try? filler.writeAll(Self.block)) != nil {}
            fsync(filler.rawValue)
            try filler.close()
            for _ in 1...Self.records {
                #expect(ballast.release())
                try records.writeAll(Self.block)
                fsync(records.rawValue)
                ballast.take()
            }
            let left = try reserved(path)
            let taken = Self.records * Self.block.count
            // Of the last few blocks some are for the file system's own use.
            #expect(left >= most - taken - (128 << 10), "\(left) of \(most)")
        }
    }

    private func file(_ path: String) throws -> FileDescriptor {
        try FileDescriptor.open(
            FilePath(path), .writeOnly, options: [.create, .append], permissions: [.ownerReadWrite])
    }

    /// The bytes of the reserve.
    private func reserved(_ path: String) throws -> Int {
        var status = stat()
        try #require(stat("\(path)/ballast", &status) == 0)
        return Int(status.st_blocks) * 512
    }
}
