// Sentences for `status` about what is not kept, and what is lost (DESIGN 1: the exceptions show).

import CFuse3
import CLinux
import Container
import Glibc
import SystemPackage
import VersionModel
import VersionStore

/// What people should know of the first promise in this container.
struct StatusNotes {
    let container: LiveContainer
    /// Who asks: names that they may not see are left out.
    let principal: Principal

    /// - Throws: if the catalog cannot be read.
    func all() throws -> [String] {
        [ignored, tooLarge].compactMap { $0 } + unknown + (try lost()) + (try unfinished())
    }

    private func unfinished() throws -> [String] {
        guard container.knowsAll(principal) else { return [] }
        return try container.unfinishedUndeletes().map {
            "\($0.path) has come back without \($0.remaining) of what was deleted from it: "
                + "versionsctl undelete \($0.path) goes on"
        }
    }

    private var unknown: [String] {
        CheckedSettings(in: container.store.state).ignored.map { "\($0): versionsctl config lists what there is" }
    }

    private var ignored: String? {
        let patterns = container.settings.ignorePatterns + ignoreFile
        guard !patterns.isEmpty else { return nil }
        let shown = patterns.prefix(8).map { "'\($0)'" }.joined(separator: ", ")
        let more = patterns.count > 8 ? " and \(patterns.count - 8) more" : ""
        return "no versions are kept of what matches \(shown)\(more) (ignore.patterns and .versionsignore)"
    }

    private var tooLarge: String? {
        guard !container.store.contents.canReflink, !container.options.isReadOnly else { return nil }
        let limit = container.settings.maxFile
        let units: [(UInt64, String)] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1, "bytes")]
        let shown = units.first { limit.isMultiple(of: $0.0) }.map { "\(limit / $0.0) \($0.1)" } ?? "\(limit)"
        return "of a file over \(shown) that is overwritten in place nothing older is kept: there is no reflink here "
            + "(history.max-file)"
    }

    private func lost() throws -> [String] {
        let lost = try container.store.lostContents(naming: 3)
        guard lost.count > 0 else { return [] }
        let paths = lost.items.compactMap { item in
            (try? container.document(item, as: principal))?.path
        }.map { "\($0)" }
        let places = paths.isEmpty ? "" : ", of \(paths.joined(separator: ", "))\(lost.items.count < 3 ? "" : ", ...")"
        let what =
            lost.count == 1 ? "the content of 1 version is lost" : "the contents of \(lost.count) versions are lost"
        return [
            "\(what)\(places): files over history.max-file that were overwritten in place, or damage; "
                + "versionsctl history FILE marks them, versionsctl show FILE --version ID says why"
        ]
    }

    /// The patterns of `.versionsignore` at the root.
    private var ignoreFile: [String] {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let file = linux_openat(container.store.root.rawValue, ".versionsignore", flags, 0)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_mode & S_IROTH != 0 || container.knowsAll(principal)
        else { return [] }
        // Enough to name some: a longer file is in force as a whole.
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(file, &buffer, buffer.count)
        return buffer.prefix(max(0, count)).split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
            .filter { !$0.hasPrefix("#") && $0.contains { !$0.isWhitespace } }
    }
}
