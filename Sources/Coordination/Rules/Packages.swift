// The directories that count as one document: for claims, an item in a package is the package.

import VersionModel

/// Recognizes packages by the extensions of their names (`packages.extensions`).
public struct Packages: Hashable, Sendable {
    /// Without the dot, in lower case: the comparison ignores case.
    public let extensions: Set<[UInt8]>

    public init(extensions: some Sequence<String> = []) {
        self.extensions = Set(extensions.map { Array($0.lowercased().utf8) })
    }

    /// Whether a directory of this name is a package.
    public func isPackage(_ name: FileName) -> Bool {
        guard !extensions.isEmpty, let suffix = name.fileExtension else { return false }
        return extensions.contains(suffix.map { (65...90).contains($0) ? $0 + 32 : $0 })
    }

    /// The unit of a claim on the path: the outermost package around it, else the path itself.
    public func unit(of path: TreePath) -> TreePath {
        guard !extensions.isEmpty else { return path }
        var names: [FileName] = []
        for name in path.names {
            names.append(name)
            if isPackage(name) { return TreePath(names: names) }
        }
        return path
    }

    /// The packages around the path, the outermost first; not the path itself.
    public func packages(around path: TreePath) -> [TreePath] {
        guard !extensions.isEmpty else { return [] }
        var names: [FileName] = []
        var found: [TreePath] = []
        for name in path.names.dropLast() {
            names.append(name)
            if isPackage(name) { found.append(TreePath(names: names)) }
        }
        return found
    }
}
