// Patterns in the syntax of gitignore(5), matched against paths as bytes.

/// The patterns of one list, for the directory that the list belongs to. Within a list the last match decides.
public struct IgnorePatterns: Sendable {
    private struct Pattern {
        var components: [GlobComponent]
        /// `!`: cancels an earlier pattern's match.
        var isNegated: Bool
        /// A slash at the end: matches directories only.
        var directoriesOnly: Bool
        /// A slash before the end: the pattern matches the whole path; otherwise the last name.
        var isAnchored: Bool
    }

    private let patterns: [Pattern]

    /// No patterns: no path is ignored.
    public static let none = IgnorePatterns(lines: [])

    /// Takes single patterns, as in `ignore.patterns`.
    public init(lines: [String]) {
        patterns = lines.compactMap { Self.parse(Array($0.utf8)[...]) }
    }

    /// Takes the content of a `.gitignore` or `.versionsignore`.
    public init(file: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = file.starts(with: mark) ? file.dropFirst(mark.count) : file[...]
        patterns = content.split(separator: 10).compactMap { line in
            Self.parse(line.last == 13 ? line.dropLast() : line)
        }
    }

    /// Whether the list is empty.
    public var isEmpty: Bool { patterns.isEmpty }

    /// The list's verdict on this one path, without the directories above it: true to ignore it, false to keep it, nil
    /// without a match.
    /// - Parameter path: relative to the list's directory.
    public func verdict(_ path: TreePath, isDirectory: Bool) -> Bool? {
        let names = path.bytes.split(separator: 47)
        guard let last = names.last else { return nil }
        for pattern in patterns.reversed() where isDirectory || !pattern.directoriesOnly {
            let matches =
                pattern.isAnchored
                ? GlobComponent.match(pattern.components[...], names[...])
                : pattern.components.first?.matches(last) ?? false
            if matches { return !pattern.isNegated }
        }
        return nil
    }

    /// Whether a path is ignored: the path itself, or a directory above it. The contents of an ignored directory stay
    /// ignored.
    public func ignores(_ path: TreePath, isDirectory: Bool) -> Bool {
        IgnoreLists([.init(directory: .root, patterns: self)]).ignores(path, isDirectory: isDirectory)
    }

    // MARK: Reading

    private static func parse(_ line: ArraySlice<UInt8>) -> Pattern? {
        var text = withoutTrailingSpaces(line)
        guard let first = text.first, first != 35 else { return nil }
        let isNegated = first == 33
        if isNegated { text = text.dropFirst() }
        let directoriesOnly = text.last == 47
        if directoriesOnly { text = text.dropLast() }
        let isAnchored = text.contains(47)
        if text.first == 47 { text = text.dropFirst() }
        guard !text.isEmpty else { return nil }
        let components = isAnchored ? GlobComponent.path(text) : [GlobComponent(text, isWholePath: false)]
        return Pattern(
            components: components, isNegated: isNegated, directoriesOnly: directoriesOnly, isAnchored: isAnchored)
    }

    /// Spaces at the end count only after a backslash.
    private static func withoutTrailingSpaces(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var end = line.startIndex
        var index = line.startIndex
        while index < line.endIndex {
            let isSpace = line[index] == 32
            index = min(index + (line[index] == 92 ? 2 : 1), line.endIndex)
            if !isSpace { end = index }
        }
        return line[..<end]
    }
}

/// The lists of a tree, each for one directory and everything below it. The deeper list decides.
public struct IgnoreLists: Sendable {
    /// One list with its directory.
    public struct List: Sendable {
        public var directory: TreePath
        public var patterns: IgnorePatterns
        public init(directory: TreePath, patterns: IgnorePatterns) {
            self.directory = directory
            self.patterns = patterns
        }
    }

    private let deepestFirst: [List]

    public init(_ lists: [List]) {
        deepestFirst = lists.filter { !$0.patterns.isEmpty }.enumerated()
            .sorted { ($0.element.directory.names.count, $0.offset) > ($1.element.directory.names.count, $1.offset) }
            .map(\.element)
    }

    /// Whether a path is ignored: the path itself, or a directory above it.
    public func ignores(_ path: TreePath, isDirectory: Bool) -> Bool {
        let names = path.names
        guard !names.isEmpty, !deepestFirst.isEmpty else { return false }
        for count in 1...names.count {
            let part = TreePath(names: Array(names.prefix(count)))
            if verdict(part, isDirectory: count < names.count || isDirectory) == true { return true }
        }
        return false
    }

    private func verdict(_ path: TreePath, isDirectory: Bool) -> Bool? {
        for list in deepestFirst where path.isWithin(list.directory) && path != list.directory {
            let below = path.names.dropFirst(list.directory.names.count)
            if let verdict = list.patterns.verdict(TreePath(names: Array(below)), isDirectory: isDirectory) {
                return verdict
            }
        }
        return nil
    }
}
