// fallocate(2) where there is little room: a call that cannot succeed gives nothing up, and one that statfs(2) has room
// for succeeds.

import CTestSupport
import Foundation
import Support
import Testing

@Suite(.enabled(if: getuid() == 0, "making a file system takes root")) struct AllocationTests {
    private static let megabyte = 1 << 20

    private func save(_ number: Int, _ file: String, megabytes: Int = 1) throws {
        let block = Data(repeating: UInt8(truncatingIfNeeded: number), count: Self.megabyte)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure.call("open \(file)") }
        defer { close(descriptor) }
        for _ in 0..<megabytes {
            let count = block.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count == block.count else { throw Failure.call("write \(file)") }
        }
    }

    private func free(_ path: String) throws -> Int {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { throw Failure.call("statvfs \(path)") }
        return Int(system.f_bavail) * Int(system.f_frsize)
    }

    /// Runs fallocate(1) and returns its exit status.
    private func allocate(_ path: String, _ bytes: Int, _ options: String...) throws -> Int32 {
        try run("fallocate", options + ["-l", "\(bytes)", path], seconds: 60).status
    }

    /// Takes room of the file system from outside the mount until so much is left.
    private func fill(_ base: String, leaving bytes: Int) throws {
        let file = open(base + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure.call("open filler") }
        defer { close(file) }
        sync()
        while try free(base) > bytes {
            let (end, rest) = (lseek(file, 0, SEEK_END), try free(base) - bytes)
            guard posix_fallocate(file, end, min(rest, 8 << 20)) == 0 else { break }
        }
    }

    private static let settings = ["history.share": "100%", "deleted.share": "100%"]

    @Test("An allocation that pinned versions leave no room for fails, and nothing is given up for it")
    func pinned() throws {
        try withFileSystem(.ext4, megabytes: 200) { base in
            try withContainer(named: "pinned", on: base, settings: Self.settings) { container in
                guard container.isVersioned else { return [] }
                for number in 1...41 { try save(number, container.file("a")) }
                for version in try container.history(of: "a").versions.filter({ $0.kind == "history" }).prefix(35) {
                    try container.must("pin", container.file("a"), "--version", version.id)
                }
                let before = try container.history(of: "a").versions.map(\.id)
                // More than is free, less than if all could go.
                let wanted = try free(base) + 25 * Self.megabyte
                var problems: [String] = []
                for options in [[], ["-n"]] {
                    let status = try run("fallocate", options + ["-l", "\(wanted)", container.file("big")]).status
                    if status == 0 { problems.append("\(options): it succeeded") }
                }
                let after = try container.history(of: "a").versions.map(\.id)
                if after != before { problems.append("of \(before.count) versions \(after.count) are left") }
                return problems + (try container.checkFindings())
            }
        }
    }

    @Test("Versions that share their blocks make no room, and are not given up for an allocation")
    func shared() throws {
        try withFileSystem(.xfs, megabytes: 400) { base in
            try withContainer(named: "shared", on: base, settings: Self.settings) { container in
                guard container.isVersioned else { return [] }
                try save(1, container.file("a"), megabytes: 40)
                // In place: the kept content of each is a clone that differs by a block.
                for number in 1...5 {
                    let place = "conv=notrunc bs=1 seek=\(number * 8192)"
                    try shell("printf \(number) | dd of=a \(place) status=none", in: container.path)
                }
                let before = try container.history(of: "a").versions.map(\.id)
                let wanted = try free(base) + 60 * Self.megabyte
                var problems = before.count == 6 ? [] : ["\(before.count) versions"]
                if try allocate(container.file("big"), wanted) == 0 { problems.append("it succeeded") }
                let after = try container.history(of: "a").versions.map(\.id)
                if after != before { problems.append("of \(before.count) versions \(after.count) are left") }
                let promised = try free(container.path)
                if promised > (try free(base)) + 20 * Self.megabyte { problems.append("statfs: \(promised)") }
                return problems + (try container.checkFindings())
            }
        }
    }

    @Test("An allocation that statfs has room for succeeds, at the cost of history", arguments: FileSystemType.allCases)
    func promised(_ type: FileSystemType) throws {
        try withFileSystem(type, megabytes: type == .ext4 ? 200 : 400) { base in
            try withContainer(named: "promised", on: base, settings: Self.settings) { container in
                guard container.isVersioned else { return [] }
                for number in 1...61 { try save(number, container.file("a")) }
                sync()
                let (below, promised) = (try free(base), try free(container.path))
                var problems: [String] = []
                if promised < below + 40 * Self.megabyte { problems.append("statfs: \(promised) for \(below)") }
                // The metadata of the blocks takes some itself.
                let wanted = promised - 2 * Self.megabyte
                let status = try allocate(container.file("big"), wanted)
                if status != 0 { problems.append("\(wanted) of \(promised) failed") }
                let left = try container.history(of: "a").versions
                if left.count >= 61 { problems.append("nothing was given up") }
                if left.first?.kind != "current" { problems.append("the current version is gone") }
                return problems + (try container.checkFindings())
            }
        }
    }

    @Test("What a file has already is not asked for again")
    func present() throws {
        try withFileSystem(.ext4, megabytes: 200) { base in
            try withContainer(named: "present", on: base, settings: Self.settings) { container in
                guard container.isVersioned else { return [] }
                for number in 1...9 { try save(number, container.file("a")) }
                // Open all the time: there is no version of it that would have to be copied.
                let file = open(container.file("big"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
                defer { close(file) }
                guard posix_fallocate(file, 0, off_t(80 * Self.megabyte)) == 0 else { return ["80 MiB failed"] }
                try fill(base, leaving: Self.megabyte)
                var problems: [String] = []
                // 4 MiB more, of 84.
                let more = posix_fallocate(file, 0, off_t(84 * Self.megabyte))
                if more != 0 { problems.append("84 MiB: \(String(cString: strerror(more)))") }
                let left = try container.history(of: "a").versions.count
                if left >= 9 { problems.append("nothing was given up") }
                if posix_fallocate(file, 0, off_t(84 * Self.megabyte)) != 0 { problems.append("again") }
                if try container.history(of: "a").versions.count != left { problems.append("more was given up") }
                return problems + (try container.checkFindings())
            }
        }
    }
}
