// Finds the arbiter of an item from the path of its URL.

import ControlProtocol
import Foundation
import Glibc
import Synchronization
import VersionsClient

/// Finds the arbiter of an item.
enum Places {
    /// Guards the containers that this process has a connection to. Nothing else is locked under it.
    private static let containers = Mutex<[ContainerArbitration]>([])
    /// Held while a connection is made, so that there is one for each container. Taken before `containers`.
    private static let connecting = Mutex(())

    /// The place of an item.
    /// - Parameter followingLastLink: whether a symbolic link stands for its target.
    static func locate(_ url: URL, followingLastLink: Bool = false) throws(ControlError) -> Place {
        guard url.isFileURL else {
            throw ControlError(.invalidValue, "not the URL of a file", path: Path(url.absoluteString))
        }
        let typed = url.withUnsafeFileSystemRepresentation {
            $0.map { Path(bytes: UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
        guard let typed, !typed.bytes.isEmpty else {
            throw ControlError(.invalidValue, "a URL without a path", path: Path(url.absoluteString))
        }
        if let resolved = try? ResolvedPath(typed, followingLastLink: followingLastLink), let known = known(resolved) {
            return Place(arbitration: known, path: known.path(of: resolved.full))
        }
        // Unknown, or it cannot be followed: for instance a container whose daemon is gone.
        return try find(typed, followingLastLink)
    }

    /// The place of a presented item. Paths inside a directory follow the links to it, so a link to a directory stands
    /// for its target: no change would ever be reported at the link itself.
    static func locate(presented url: URL) throws(ControlError) -> Place {
        try locate(url, followingLastLink: leadsToDirectory(url))
    }

    private static func leadsToDirectory(_ url: URL) -> Bool {
        guard url.isFileURL else { return false }
        var status = stat()
        let isThere = url.withUnsafeFileSystemRepresentation { name in name.map { stat($0, &status) == 0 } ?? false }
        return isThere && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func known(_ resolved: ResolvedPath) -> ContainerArbitration? {
        let candidates = containers.withLock { $0 }.filter { resolved.full.isAt(orBelow: $0.root) }
        guard !candidates.isEmpty, let device = device(of: resolved.existing) else { return nil }
        return candidates.first { $0.device == device }
    }

    private static func find(_ typed: Path, _ followingLastLink: Bool) throws(ControlError) -> Place {
        let place: ContainerPlace
        do {
            place = try ContainerPlace.find(typed, followingLastLink: followingLastLink)
        } catch where error.code == .noContainer {
            return try outside(typed, followingLastLink)
        }
        // An unmounted container is a directory like any other.
        if case .unmounted = place.state { return try outside(typed, followingLastLink) }
        let resolved = try ResolvedPath(typed, followingLastLink: followingLastLink)
        return Place(arbitration: try connect(to: place, resolved), path: place.path)
    }

    private static func outside(_ typed: Path, _ followingLastLink: Bool) throws(ControlError) -> Place {
        let resolved = try ResolvedPath(typed, followingLastLink: followingLastLink)
        return Place(arbitration: ProcessArbitration.shared, path: Path(bytes: resolved.full.bytes.drop { $0 == 47 }))
    }

    private static func connect(
        to place: ContainerPlace, _ resolved: ResolvedPath
    ) throws(ControlError) -> ContainerArbitration {
        func existing() -> ContainerArbitration? {
            containers.withLock { $0 }.first { $0.root == place.root && !$0.client.hasEnded }
        }
        let (container, isNew) = try connecting.withLock { _ throws(ControlError) in
            if let container = existing() { return (container, false) }
            let client = try VersionsClient.connectAndWait(
                to: place, program: CommandLine.arguments.first ?? "", version: ProductVersion.current)
            let new = ContainerArbitration(
                client, root: place.root, hidden: hidden(place, resolved), device: device(of: place.root) ?? 0)
            containers.withLock { $0.append(new) }
            client.whenEnded { _ in containers.withLock { list in list.removeAll { $0.client.hasEnded } } }
            return (new, true)
        }
        if isNew { PresenterCenter.shared.registerAgain() }
        return container
    }

    /// The hidden prefix of the container's paths: a bind mount's root shows only one directory of the container.
    private static func hidden(_ place: ContainerPlace, _ resolved: ResolvedPath) -> [UInt8] {
        guard resolved.full.isAt(orBelow: place.root) else { return [] }
        let below = resolved.full.bytes.dropFirst(place.root.bytes.count).drop { $0 == 47 }
        return Array(place.path.bytes.dropLast(below.isEmpty ? 0 : min(below.count + 1, place.path.bytes.count)))
    }

    private static func device(of path: Path) -> UInt? {
        var status = stat()
        return path.withCString { lstat($0, &status) } == 0 ? UInt(status.st_dev) : nil
    }
}

extension Path {
    /// Whether an absolute path is the directory's or below it, by the text of the paths.
    func isAt(orBelow directory: Path) -> Bool {
        directory.bytes == [47] || bytes == directory.bytes || bytes.starts(with: directory.bytes + [47])
    }
}
