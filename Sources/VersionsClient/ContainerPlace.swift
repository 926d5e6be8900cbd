// Finds the container of a path, and the path within it (DESIGN 3.3).

import ControlProtocol
import Glibc

/// A user's path in terms of its container.
public struct ContainerPlace: Hashable, Sendable {
    /// The container's root as an absolute path.
    public var root: Path
    /// The path relative to the root; empty for the root.
    public var path: Path
    public var state: State

    public init(root: Path, path: Path, state: State) {
        self.root = root
        self.path = path
        self.state = state
    }

    /// Whether a daemon serves the container.
    public enum State: Hashable, Sendable {
        /// Served, with its daemon's socket.
        case mounted(socket: Path)
        /// `root` has the state of a container, but no mount.
        case unmounted
        /// A mount whose daemon died.
        case dead
        /// A mount of another user that admits no other users; with the owner's id.
        case closed(owner: UInt32)
    }

    /// The absolute path.
    public var absolute: Path {
        path.bytes.isEmpty ? root : Path(bytes: (root.bytes == [47] ? [] : root.bytes) + [47] + path.bytes)
    }

    /// The process of its daemon; nil if there is none, or it cannot be asked.
    public var daemonProcess: Int32? {
        guard case .mounted(let path) = state, let socket = try? UnixSocket.connect(to: path) else { return nil }
        defer { close(socket) }
        return UnixSocket.peer(of: socket)?.process
    }

    /// Finds the container of a path. The container of a missing path is the one of its nearest existing ancestor.
    /// - Parameters:
    ///   - typed: absolute, or relative to the current directory.
    ///   - followingLastLink: whether a symbolic link stands for its target.
    /// - Throws: `noContainer`, or `system` if the path cannot be followed.
    public static func find(_ typed: Path, followingLastLink: Bool = true) throws(ControlError) -> ContainerPlace {
        let resolved: ResolvedPath
        do {
            resolved = try ResolvedPath(typed, followingLastLink: followingLastLink)
        } catch where error.errno == ENOTCONN {
            guard let mount = MountTable.current().last(where: { $0.contains(absolutePath(typed)) }) else {
                throw error
            }
            return mount.place(of: absolutePath(typed), state: .dead)
        }
        if let place = mounted(resolved) { return place }
        if let place = unmounted(resolved) { return place }
        if let error = covered(resolved, typed) { throw error }
        throw ControlError(
            .noContainer, "not in a container", path: typed,
            advice: "`versionsctl mount DIR` makes a directory a container")
    }

    /// Through the mount: by the mount table if it lists a mount of VersionsFS, else by the attributes alone.
    private static func mounted(_ resolved: ResolvedPath) -> ContainerPlace? {
        let mount = MountTable.mount(of: resolved.existing)
        if let mount, mount.isOurs {
            let link = Path(bytes: mount.point.bytes + Array("/.versions/.socket".utf8))
            guard let socket = FileAttribute.socket.value(of: resolved.existing) ?? readLink(link) else {
                if let owner = mount.owner, owner != geteuid(), isForbidden(mount.point) {
                    return mount.place(of: resolved.full, state: .closed(owner: owner))
                }
                return mount.place(of: resolved.full, state: .dead)
            }
            return mount.place(of: resolved.full, state: .mounted(socket: socket))
        }
        guard let container = FileAttribute.container.value(of: resolved.existing),
            let socket = FileAttribute.socket.value(of: resolved.existing)
        else { return nil }
        var root = resolved.existing
        while let parent = root.parent, FileAttribute.container.value(of: parent) == container { root = parent }
        return ContainerPlace(root: root, path: resolved.full.relative(to: root), state: .mounted(socket: socket))
    }

    /// The error for a path on another file system that is mounted inside a container: the container cannot see it.
    private static func covered(_ resolved: ResolvedPath, _ typed: Path) -> ControlError? {
        guard let mount = MountTable.mount(of: resolved.existing), !mount.isOurs,
            let outer = MountTable.current().last(where: { $0.isOurs && $0.contains(mount.point) })
        else { return nil }
        return ControlError(
            .noContainer,
            "it lies on another file system, mounted at \(mount.point) in the container \(outer.point)",
            path: typed, advice: "move it to the container's own file system: on another one it has no versions")
    }

    /// Whether a directory of this name holds a container's state. A program may make another one of the same name
    /// below the root.
    private static func isState(_ directory: Path) -> Bool {
        var status = stat()
        guard directory.withCString({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return false
        }
        // Only its owner can read it, and the format may be the lost part.
        return ["format", "catalog2.sqlite", "catalog.sqlite", "objects"].contains { name in
            directory.appending(name).withCString { lstat($0, &status) } == 0 || errno == EACCES
        }
    }

    private static func isForbidden(_ point: Path) -> Bool {
        var status = stat()
        return point.withCString { stat($0, &status) } != 0 && errno == EACCES
    }

    private static func unmounted(_ resolved: ResolvedPath) -> ContainerPlace? {
        var candidate: Path? = resolved.existing
        while let directory = candidate {
            if isState(directory.appending(".versionsfs")) {
                if let place = mountedElsewhere(directory, resolved) { return place }
                return ContainerPlace(root: directory, path: resolved.full.relative(to: directory), state: .unmounted)
            }
            candidate = directory.parent
        }
        return nil
    }
}

extension ContainerPlace {
    /// A container that is mounted elsewhere, with its own directory left open (`source-open`).
    private static func mountedElsewhere(_ directory: Path, _ resolved: ResolvedPath) -> ContainerPlace? {
        let mount = MountTable.current().last { $0.isOurs && $0.source == directory && $0.root.bytes == [47] }
        guard let mount,
            let socket = readLink(mount.point.appending(".versions/.socket"))
        else { return nil }
        return ContainerPlace(
            root: mount.point, path: resolved.full.relative(to: directory), state: .mounted(socket: socket))
    }
}

/// The attributes of every file in a mount (DESIGN 3.2).
enum FileAttribute: String {
    case socket = "user.versions.socket"
    case container = "user.versions.container"
}
