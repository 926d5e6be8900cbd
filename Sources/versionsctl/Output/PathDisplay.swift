// Paths of a container as the user would type them.

import ControlProtocol
import VersionsClient

/// Says paths of a container as the user typed them.
struct PathDisplay: Sendable {
    /// What was typed for the place; nil where the place is the current directory.
    var typed: Path?
    var place: ContainerPlace

    /// A path relative to the root: behind what was typed where it lies below that, beside it where it shares
    /// directories with it, else absolute. What is absolute stays so.
    func shown(_ path: Path) -> Path {
        if path.bytes.first == 47 { return path }
        if path == place.path { return typed ?? Path(".") }
        if let typed {
            if let below = Self.rest(of: path, below: place.path) { return Self.joined(typed, below) }
            let (typedBase, placeBase) = commonBase(typed)
            if let below = Self.rest(of: path, below: placeBase) { return Self.joined(typedBase, below) }
        } else if let below = Self.rest(of: path, below: place.path) {
            return below
        }
        return Path(bytes: place.root.bytes + (place.root.bytes == [47] ? [] : [47]) + path.bytes)
    }

    /// The directory that both what was typed and the place lie in, in both their words: `../n/a.txt` and `a.txt` lie
    /// in `../n` and the root.
    private func commonBase(_ typed: Path) -> (Path, Path) {
        var words = Self.names(typed)
        var names = Self.names(place.path)
        while let word = words.last, let name = names.last, word == name, word != [46], word != [46, 46] {
            words.removeLast()
            names.removeLast()
        }
        let lead: [UInt8] = typed.bytes.first == 47 ? [47] : []
        return (Path(bytes: lead + words.joined(separator: [47])), Path(bytes: Array(names.joined(separator: [47]))))
    }

    private static func names(_ path: Path) -> [[UInt8]] { path.bytes.split(separator: 47).map { Array($0) } }

    /// The part of a path behind a directory; nil if it does not lie below.
    private static func rest(of path: Path, below directory: Path) -> Path? {
        let prefix = directory.bytes.isEmpty ? [] : directory.bytes + [47]
        guard path.bytes.starts(with: prefix), path.bytes.count > prefix.count else { return nil }
        return Path(bytes: path.bytes.dropFirst(prefix.count))
    }

    private static func joined(_ directory: Path, _ rest: Path) -> Path {
        if directory.bytes.isEmpty || directory.bytes == [46] { return rest }
        return Path(bytes: directory.bytes + (directory.bytes.last == 47 ? [] : [47]) + rest.bytes)
    }
}
