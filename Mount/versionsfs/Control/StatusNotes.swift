// Sentences for `status` about contents that are not kept or are lost (DESIGN 1: exceptions are visible).

import Container
import ControlProtocol
import VersionModel
import VersionStore

/// Notes about the limits of the first promise in this container.
struct StatusNotes {
    let container: any ServedContainer
    private var operations: any OperatedContainer { container.operations }
    /// The caller: names that it may not see are left out.
    let principal: Principal

    /// - Throws: if the catalog cannot be read.
    func all() throws -> [String] {
        [ignored, leftOut, tooLarge].compactMap { $0 } + unknown + (try lost()) + (try unfinished())
    }

    private func unfinished() throws -> [String] {
        guard container.finder.knowsAll(principal) else { return [] }
        return try operations.unfinishedUndeletes().map {
            "\($0.path) has come back without \($0.remaining) of what was deleted from it: "
                + "`versionsctl undelete \($0.path)` goes on"
        }
    }

    private var unknown: [String] {
        CheckedSettings(in: container.state.directory).ignored.map { "\($0): `versionsctl config` lists the settings" }
    }

    private var ignored: String? {
        let (set, inFile) = (operations.settings.ignorePatterns, filePatterns)
        let patterns = set + inFile
        guard !patterns.isEmpty else { return nil }
        let sources = (set.isEmpty ? [] : ["ignore.patterns"]) + (inFile.isEmpty ? [] : [Self.name])
        let shown = patterns.prefix(8).map { "'\($0)'" }.joined(separator: ", ")
        let more = patterns.count > 8 ? " and \(patterns.count - 8) more" : ""
        return "no versions are kept of files that match \(shown)\(more) (\(sources.joined(separator: " and ")))"
    }

    private var leftOut: String? {
        guard let reason = operations.ignoreFile?.objection else { return nil }
        return "\(Self.name) does not count: \(reason): only the container's owner and root may exclude files from "
            + "versions"
    }

    private var tooLarge: String? {
        guard !container.state.contents.canReflink, !container.options.isReadOnly else { return nil }
        let limit = operations.settings.maxFile
        let units: [(UInt64, String)] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1, "bytes")]
        let shown = units.first { limit.isMultiple(of: $0.0) }.map { "\(limit / $0.0) \($0.1)" } ?? "\(limit)"
        return "the old content of a file over \(shown) that is overwritten in place is not kept: there is no "
            + "reflink here (history.max-file)"
    }

    private func lost() throws -> [String] {
        let lost = try container.lostContents(naming: 3)
        guard lost.count > 0 else { return [] }
        let paths = lost.items.compactMap { item in
            (try? container.finder.document(item, as: principal))?.path
        }.map { "\($0)" }
        let places = paths.isEmpty ? "" : ", of \(paths.joined(separator: ", "))\(lost.items.count < 3 ? "" : ", ...")"
        let what =
            lost.count == 1 ? "the content of 1 version is lost" : "the contents of \(lost.count) versions are lost"
        return [
            "\(what)\(places): files over history.max-file that were overwritten in place, or damage; "
                + "`versionsctl history FILE` marks them, `versionsctl show FILE --version ID` says why"
        ]
    }

    /// The patterns of `.versionsignore` that are in force, if the caller may read it.
    private var filePatterns: [String] {
        guard let file = operations.ignoreFile, file.isPublic || container.finder.knowsAll(principal) else { return [] }
        return file.patterns
    }

    /// The `.versionsignore` in force, for programs.
    var ignoreFile: ContainerStatus.IgnoreFile? {
        operations.ignoreFile.map {
            .init(path: Path(bytes: Array(Self.name.utf8)), counts: $0.counts, reason: $0.objection)
        }
    }

    private static let name = ".versionsignore"
}
