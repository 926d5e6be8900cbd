// The lines of a document's versions, read as far as they are asked for.

import ControlProtocol
import VersionModel

/// A line, and the version that brought it.
struct BlamedLine: Hashable, Sendable {
    var text: String
    var version: VersionInfo
}

/// Reads versions of a document for ``Blame``.
final class BlamedFile {
    /// Longer texts take too long to compare.
    static let mostLines = 20_000
    private static let mostBytes: UInt64 = 64 << 20

    /// Why a content cannot be compared line by line.
    private enum Trouble { case binary, tooLong }

    private let versions: [VersionID: VersionInfo]
    private let order: [VersionID]
    private let name: Path
    /// Equal lines have equal numbers.
    private var numbers: [[UInt8]: Int] = [:]

    /// - Parameter versions: newest first.
    init(_ versions: [VersionInfo], name: Path) {
        self.versions = Dictionary(versions.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        order = versions.map(\.id)
        self.name = name
    }

    /// Each line of a version with the one that brought it.
    func lines(of version: VersionInfo) throws(ControlError) -> [BlamedLine] {
        let lines = Self.split(try readable(version))
        let steps = steps(from: version.id)
        let origins: [VersionID]
        do { origins = try Blame.origins(steps) { try self.numbers(of: $0) } } catch {
            throw error as? ControlError ?? ControlError(.failed, "\(error)", path: name)
        }
        return zip(lines, origins).map { line, origin in
            BlamedLine(text: String(decoding: line, as: UTF8.self), version: versions[origin] ?? version)
        }
    }

    /// The content of the version in question, which has to be a text.
    private func readable(_ version: VersionInfo) throws(ControlError) -> [UInt8] {
        let bytes = version.size <= Self.mostBytes ? try Files.content(version.file) : []
        switch version.size <= Self.mostBytes ? Self.trouble(bytes) : .tooLong {
        case .binary:
            throw ControlError(
                .invalidValue, "a binary file has no lines", path: name,
                advice: "`versionsctl history` lists its versions")
        case .tooLong:
            throw ControlError(
                .invalidValue, "the file is longer than blame can compare (\(Self.mostLines) lines)", path: name,
                advice: "`versionsctl log -p` shows what each save changed")
        case nil: return bytes
        }
    }

    /// The version and those that it came from, each before its parents.
    private func steps(from start: VersionID) -> [Blame<VersionID>.Step] {
        var reached: Set<VersionID> = [start]
        var steps: [Blame<VersionID>.Step] = []
        for id in order where reached.contains(id) {
            let parents = parents(of: id)
            reached.formUnion(parents)
            steps.append(Blame.Step(id: id, parents: parents))
        }
        return steps
    }

    /// Versions whose content is lost are passed over: what they brought counts as brought by the next one.
    private func parents(of id: VersionID) -> [VersionID] {
        var (found, seen): ([VersionID], Set<VersionID>) = ([], [id])
        var waiting = Array((versions[id]?.parents ?? []).reversed())
        while let parent = waiting.popLast() {
            guard seen.insert(parent).inserted, let version = versions[parent] else { continue }
            if version.lost { waiting += version.parents.reversed() } else { found.append(parent) }
        }
        return found
    }

    /// The lines of a version; of what is no text, or too long, there are none.
    private func numbers(of id: VersionID) throws -> [Int] {
        guard let version = versions[id], version.size <= Self.mostBytes else { return [] }
        let bytes = try Files.content(version.file)
        guard Self.trouble(bytes) == nil else { return [] }
        return Self.split(bytes).map { line in
            let key = Array(line)
            if let number = numbers[key] { return number }
            numbers[key] = numbers.count
            return numbers.count - 1
        }
    }

    private static func trouble(_ bytes: [UInt8]) -> Trouble? {
        // As diff(1) and git have it: a text has no NUL among its first bytes.
        if bytes.prefix(8000).contains(0) { return .binary }
        return bytes.count { $0 == 10 } > mostLines ? .tooLong : nil
    }

    /// The lines without their ends.
    static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        return lines
    }
}
