// Versions and moments that clients name by steps or times instead of ids, and comparisons of directories over time.

import Container
import ControlProtocol
import ControlService
import VersionModel
import VersionStore

extension ContainerBackend {
    /// The version of a document that a client names. Steps and times count the versions that the caller may read, as
    /// in `history`.
    func version(_ name: VersionName, of document: DocumentRecord, _ call: ControlCall) throws -> Version {
        let path = document.path
        if case .id(let digits) = name {
            guard digits.utf8.allSatisfy({ Self.isHexDigit($0) }) else {
                throw OperationError(
                    .invalid, "no version is called \(digits.prefix(64))", path: path,
                    advice: "give an id, ~1, ~2 and so on, or previous; `versionsctl history FILE` lists the ids")
            }
            return try finder.version(digits, of: document)
        }
        let selection = VersionSelection(readable(document, call).versions, isDeleted: document.deletion != nil)
        switch name {
        case .id(let digits): return try finder.version(digits, of: document)
        case .back(let steps):
            if let found = selection.back(steps) { return found }
            guard steps > 0 else {
                throw OperationError(
                    .notFound, "no current version", path: path,
                    advice: "`versionsctl history FILE` lists its versions")
            }
            let count = selection.reachable
            throw OperationError(
                .notFound, count == 0 ? "no saved version yet" : "only \(count) version\(count == 1 ? "" : "s")",
                path: path, advice: "`versionsctl history FILE` lists them")
        case .at(let time):
            guard time <= container.options.clock.now() else { throw OperationError.notYet(path) }
            guard let found = selection.at(time) else { throw OperationError.tooEarly(path, begins: selection.begins) }
            return found
        case .before(let program):
            guard let first = selection.firstOfLastRun(of: program) else { throw unknown(program, path) }
            guard let found = selection.before(first) else {
                throw OperationError(
                    .notFound, "no version from before \(program)", path: path,
                    advice: "`versionsctl history FILE` lists them")
            }
            return found
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }

    private func unknown(_ program: String, _ path: TreePath) -> OperationError {
        OperationError(
            .notFound, "no save by \(program)", path: path,
            advice: "`versionsctl history FILE` lists programs and their process ids")
    }

    /// The moment that a client names for a directory.
    func moment(
        _ at: Timestamp?, before program: String?, in path: TreePath, _ call: ControlCall
    ) throws -> Timestamp {
        switch (at, program) {
        case (let at?, nil): return at
        case (nil, let program?):
            let found = try container.momentBefore(lastRunOf: program, in: path, as: call.principal)
            guard let found else {
                throw OperationError(
                    .notFound, "no change by \(program)", path: path, advice: "give --at with a time")
            }
            return found
        default: throw ControlError(.invalidParameters, "one of at and before is needed")
        }
    }

    func compareDirectory(
        _ request: CompareDirectoryRequest, _ call: ControlCall
    ) throws(ControlError) -> DirectoryComparison {
        try answering {
            let place = try path(request.target, call)
            let time = try moment(request.at, before: request.before, in: place, call)
            let found = try container.differences(in: place, since: time, as: call.principal)
            return DirectoryComparison(at: time, entries: found.map { entry($0) })
        }
    }

    private func entry(_ difference: PastDifference) -> DirectoryComparison.Entry {
        DirectoryComparison.Entry(
            path: Path(difference.path),
            change: difference.wasThere ? difference.isThere ? .modified : .removed : .added,
            isDirectory: difference.isDirectory, then: difference.then.map { info($0.version, of: $0.document) },
            now: difference.now.map { info($0.version, of: $0.document) })
    }
}
