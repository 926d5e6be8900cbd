// Which directories count as one document: an item in a package is the package, as far as claims go.

import VersionModel

/// Tells packages by the extensions of their names (`packages.extensions`).
public struct Packages: Hashable, Sendable {
    /// Without the dot, in lower case: extensions are compared without regard to it.
    public let extensions: Set<[UInt8]>

    public init(extensions: some Sequence<String> = []) {
        self.extensions = Set(extensions.map { Array($0.lowercased().utf8) })
    }

    /// Whether a directory of this name is a package.
    public func isPackage(_ name: FileName) -> Bool {
        guard !extensions.isEmpty, let suffix = name.fileExtension else { return false }
        return extensions.contains(suffix.map { (65...90).contains($0) ? $0 + 32 : $0 })
    }

    /// What a claim on the path is on: the outermost package that it lies in, else the path itself.
    public func unit(of path: TreePath) -> TreePath {
        guard !extensions.isEmpty else { return path }
        var names: [FileName] = []
        for name in path.names {
            names.append(name)
            if isPackage(name) { return TreePath(names: names) }
        }
        return path
    }

    /// The packages that the path lies in, the outermost first; not the path itself.
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
