// Asking the daemon through versionsctl, as users and scripts do.

import Foundation

extension TestContainer {
    /// Runs versionsctl with its own directory in the container.
    public func ctl(_ arguments: [String], asUser user: UInt32? = nil, input: String = "", seconds: Double = 30) throws
        -> Output
    {
        guard isVersioned else {
            throw Failure("versionsctl \(arguments.joined(separator: " ")): a plain directory has no daemon")
        }
        return try run(Workplace.control, arguments, in: path, input: Array(input.utf8), asUser: user, seconds: seconds)
    }

    /// Runs versionsctl, which has to succeed.
    @discardableResult
    public func must(_ arguments: String..., asUser user: UInt32? = nil) throws -> Output {
        let output = try ctl(arguments, asUser: user)
        guard output.status == 0 else {
            throw Failure(
                "versionsctl \(arguments.joined(separator: " ")) ended with status \(output.status)",
                evidence: output.errors)
        }
        return output
    }

    /// The versions of a document.
    public func history(of file: String) throws -> HistoryRecord {
        try decode(["history", self.file(file)])
    }

    /// The documents with unresolved losers, below a path.
    public func conflicts(below file: String = "") throws -> [ConflictRecord] {
        try decode(["conflicts", self.file(file)])
    }

    /// The deleted area, below a path.
    public func deleted(below file: String = "") throws -> [DeletedRecord] {
        try decode(["deleted", self.file(file)])
    }

    /// Any command's JSON.
    public func decode<Record: Decodable>(_ arguments: [String]) throws -> Record {
        let output = try ctl(arguments + ["--json"])
        // `conflicts --exit-code` and `check` say 1 for "some"; without that option it is a failure.
        guard output.status == 0 else {
            throw Failure("versionsctl \(arguments.joined(separator: " ")): \(output.errors)")
        }
        do {
            return try JSONDecoder().decode(Record.self, from: Data(output.stdout))
        } catch {
            throw Failure(
                "versionsctl \(arguments.joined(separator: " ")) printed other JSON: \(error)", evidence: output.text)
        }
    }

    /// The content of one version, read under the mount.
    public func content(of version: VersionRecord) throws -> [UInt8] {
        guard let bytes = FileManager.default.contents(atPath: version.file) else {
            throw Failure("version \(version.id) cannot be read at \(version.file)")
        }
        return Array(bytes)
    }

    /// What `versionsctl check` finds, in one line each; empty for a clean container.
    public func checkFindings(asUser user: UInt32? = nil) throws -> [String] {
        // Not from within: nobody but the user may enter a mount of theirs, this
        // process before it becomes them included.
        let tool = environment["VERSIONSFS_ENGINE"] == nil ? Workplace.control : Workplace.checkingControl
        let output = try run(
            tool, ["check", "--container", path], in: "/", environment: environment, asUser: user, seconds: 120)
        return output.status == 0
            ? [] : ["check (status \(output.status)): \(output.text.prefix(4000)) \(output.errors)"]
    }

    /// The same once nobody is at work in it: then what was kept a moment ago has to be recorded, too. Unmounts it.
    public func checkAtRest() throws -> [String] {
        try unmount()
        return try checkFindings()
    }
}
