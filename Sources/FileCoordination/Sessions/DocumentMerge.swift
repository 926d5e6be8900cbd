// Three-way merges with diff3(1), like the daemon's.

import Foundation

/// The reason why two edits of one base cannot be merged.
public enum DocumentMergeError: Error, Hashable, Sendable {
    /// Both change the same lines.
    case overlap
    /// One of the three contents is not text.
    case noText
    /// The common base content is not available.
    case noBase
    /// diff3(1) is missing, or has failed.
    case noTool
}

enum DocumentMerge {
    static func merge(mine: Data, base: Data, theirs: Data) throws -> Data {
        if theirs == base || theirs == mine { return mine }
        if mine == base { return theirs }
        guard [mine, base, theirs].allSatisfy({ !$0.contains(0) }) else { throw DocumentMergeError.noText }
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("merge-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = ["mine", "base", "theirs"].map { directory.appendingPathComponent($0) }
        for (file, data) in zip(files, [mine, base, theirs]) { try data.write(to: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/diff3")
        process.arguments = ["-m", "-E"] + files.map(\.path)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { throw DocumentMergeError.noTool }
        let merged = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        switch process.terminationStatus {
        case 0: return merged
        case 1: throw DocumentMergeError.overlap
        default: throw DocumentMergeError.noTool
        }
    }
}
