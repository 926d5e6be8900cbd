// What tests of operations on history have in common.

import CLinux
import Foundation
import Glibc
import Testing
import VersionModel
import VersionStore

@testable import Container

/// A suite of tests that ask a container for something as somebody.
protocol OperationTesting {}

extension OperationTesting {
    var my: Principal { Principal(user: getuid(), primaryGroup: getgid(), process: getpid()) }
    /// Somebody who is neither root nor the one who runs the tests.
    var stranger: Principal { Principal(user: 54_321, primaryGroup: 54_321) }

    func path(_ text: String) throws -> TreePath { try #require(TreePath(bytes: text.utf8)) }

    func text(_ version: Version, _ document: DocumentRecord, _ tree: BrowsedContainer) throws -> String {
        let content = try tree.container.content(of: version, in: document)
        var bytes = [UInt8](repeating: 0, count: Int(content.size))
        let count = pread(content.raw, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    func kind(_ body: () throws -> Void) -> OperationError.Kind? {
        do {
            try body()
            return nil
        } catch { return (error as? OperationError)?.kind }
    }

    /// Every entry below a directory with mode, times, attribute and content.
    func photograph(_ directory: String) throws -> [String: String] {
        var result: [String: String] = [:]
        // Names that are not UTF-8 do not come through Foundation; the test looks for its one itself.
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory) + [""]
        where !name.contains("\u{FFFD}") {
            let full = "\(directory)/\(name)"
            var status = stat()
            try #require(lstat(full, &status) == 0)
            var value = [UInt8](repeating: 0, count: 64)
            let length = linux_lgetxattr(full, "user.test", &value, 64)
            let isLink = status.st_mode & S_IFMT == S_IFLNK
            let content =
                isLink
                ? try FileManager.default.destinationOfSymbolicLink(atPath: full)
                : status.st_mode & S_IFMT == S_IFREG ? try String(contentsOfFile: full, encoding: .utf8) : ""
            result[name] = """
                \(status.st_mode) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec) \(value.prefix(max(0, length))) \
                \(content)
                """
        }
        return result
    }
}
