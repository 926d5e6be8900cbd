// Merges texts three ways with diff3(1), which every Debian has.

import CLinux
import Glibc
import SystemPackage
import VersionModel

/// The three texts of a merge.
struct MergeInput {
    var mine: [UInt8]
    var base: [UInt8]
    var other: [UInt8]
}

enum ThreeWayMerge {
    /// The size limit for a merge, in bytes (DESIGN 6.3).
    static let maximumSize: UInt64 = 1 << 20
    /// The time limit (docs/decisions/0014 explains the difference from DESIGN's 200 ms).
    static let maximumMilliseconds: Int32 = 2000

    /// The merged text; nil if the edits overlap, if one of the three is not text, or if it took too long.
    ///
    /// - Parameter program: the merge program; tests have another.
    static func merge(_ input: MergeInput, with program: String = "/usr/bin/diff3") -> [UInt8]? {
        let all = [input.mine, input.base, input.other]
        guard all.allSatisfy({ $0.count <= maximumSize && !$0.contains(0) }) else { return nil }
        let files = all.compactMap { MemoryFile($0) }
        guard files.count == 3 else { return nil }
        let run = CommandRun(
            program, ["-m", "-E", "/proc/self/fd/3", "/proc/self/fd/4", "/proc/self/fd/5"],
            descriptors: files.map(\.descriptor.raw), milliseconds: maximumMilliseconds)
        // The program reads the files by their numbers; the optimizer does not see that use.
        return withExtendedLifetime(files) {
            guard let result = run.output(), result.status == 0 else { return nil }
            return result.output
        }
    }
}

/// Bytes in an anonymous file, for programs that need files.
struct MemoryFile {
    let descriptor: SharedDescriptor

    init?(_ bytes: [UInt8]) {
        let raw = linux_memfd_create("versionsfs")
        guard raw >= 0 else { return nil }
        descriptor = SharedDescriptor(raw)
        guard (try? ContentText.replace(raw, with: bytes)) != nil else { return nil }
    }
}

/// Whole small contents.
enum ContentText {
    static func read(_ file: Int32, size: UInt64) throws(Errno) -> [UInt8] {
        guard size <= ThreeWayMerge.maximumSize else { throw .fileTooLarge }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        var done = 0
        while done < bytes.count {
            let offset = done
            let count = try Backing.check {
                bytes.withUnsafeMutableBytes {
                    pread(file, $0.baseAddress?.advanced(by: offset), $0.count - offset, off_t(offset))
                }
            }
            guard count > 0 else { break }
            done += count
        }
        return Array(bytes.prefix(done))
    }

    static func replace(_ file: Int32, with bytes: [UInt8]) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let offset = done
            done += try Backing.check {
                bytes.withUnsafeBytes {
                    pwrite(file, $0.baseAddress?.advanced(by: offset), $0.count - offset, off_t(offset))
                }
            }
        }
        try Backing.check { ftruncate(file, off_t(bytes.count)) }
    }
}
