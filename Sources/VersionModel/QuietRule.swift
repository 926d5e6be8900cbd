// The items that have history but never conflicts (DESIGN 6.1).

/// Decides whether an item is quiet.
public struct QuietRule: Sendable {
    /// The default of `conflicts.quiet`.
    public static let standardPatterns = [
        "*_history", ".lesshst", ".viminfo*", "workspace.xml", "workspace*.json", "*.log", "*.pid", "*.lock",
    ]

    private static let repositories: Set<[UInt8]> = Set([".git", ".hg", ".jj", ".svn"].map { Array($0.utf8) })

    private let patterns: IgnorePatterns

    public init(patterns: [String] = standardPatterns) { self.patterns = IgnorePatterns(lines: patterns) }

    /// Whether a file never conflicts.
    /// - Parameters:
    ///   - path: relative to the container's root.
    ///   - header: the first ``DatabaseRule/headerLength`` bytes of its content, if available.
    ///   - isIgnoredByRepository: whether its repository excludes it (see ``IgnoreLists``).
    public func isQuiet(_ path: TreePath, header: [UInt8] = [], isIgnoredByRepository: Bool = false) -> Bool {
        guard let name = path.name else { return false }
        return isIgnoredByRepository || Self.isInRepositoryData(path) || DatabaseRule.isDatabase(name, header: header)
            || isNamed(path)
    }

    /// Whether `conflicts.quiet` names a file.
    public func isNamed(_ path: TreePath) -> Bool { patterns.ignores(path, isDirectory: false) }

    /// Whether a path is a repository's own data: `.git` and the like, or a path below it.
    public static func isInRepositoryData(_ path: TreePath) -> Bool {
        path.bytes.split(separator: 47).contains { repositories.contains(Array($0)) }
    }
}
