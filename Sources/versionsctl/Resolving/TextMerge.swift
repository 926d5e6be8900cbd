// Merging text three ways, with git or diff3.

import ControlProtocol
import Glibc
import VersionsClient

/// The automatic merge.
enum TextMerge {
    /// What came of it.
    enum Outcome {
        case clean
        /// The merged file has markers where edits overlap.
        case overlapping
        /// The contents are not text.
        case impossible
    }

    /// Writes MERGED from the other three.
    /// - Parameter labels: what the markers call LOCAL, BASE and REMOTE.
    static func run(_ files: MergeFiles, labels: [String]) throws -> Outcome {
        let output = files.merged.withCString { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) }
        guard output >= 0 else { throw ControlError(system: "cannot be written", path: files.merged) }
        defer { close(output) }
        let names = labels.flatMap { [Path("-L"), Path($0)] }
        let sources = [files.local, files.base, files.remote]
        // git: the number of overlaps, 127 for more than that; 255 for trouble (binary files).
        let status = try status(of: "git", [Path("merge-file"), Path("-p"), Path("-q")] + names + sources, output)
        if let status, status <= 127 { return status == 0 ? .clean : .overlapping }
        // Git may have written a part.
        guard ftruncate(output, 0) == 0, lseek(output, 0, SEEK_SET) == 0 else {
            throw ControlError(system: "cannot be written", path: files.merged)
        }
        guard let second = try Self.status(of: "diff3", [Path("-m"), Path("-E")] + names + sources, output) else {
            // Git is there, and has refused.
            if status != nil { return .impossible }
            throw ControlError(
                .failed, "text can be merged only with git or diff3, and neither is installed", advice: "install git")
        }
        return second == 0 ? .clean : second == 1 ? .overlapping : .impossible
    }

    /// nil: there is no such program.
    private static func status(
        of program: String, _ arguments: [Path], _ output: CInt
    ) throws(ControlError) -> Int32? {
        do {
            return try Subprocess.run(program, arguments, standard: [1: output])
        } catch {
            guard error.errno == ENOENT else { throw error }
            return nil
        }
    }
}
