// From typed paths to a container, its daemon and a target there.

import ControlProtocol
import Glibc
import VersionsClient

/// A command's container, the client for it, and what the command is about.
struct Session {
    var place: ContainerPlace
    var client: VersionsClient
    var target: Target
    /// What was typed; nil for the current directory.
    var typed: Path?

    /// Connects to the container of a path.
    /// - Parameters:
    ///   - typed: a path or an id; nil for the current directory.
    ///   - offline: whether an unmounted container will do.
    static func open(
        _ typed: TypedPath?, _ option: ContainerOption, followingLastLink: Bool = true, offline: Bool = false
    ) async throws(ControlError) -> Session {
        let (place, target) = try locate(typed?.path, option.container?.path, followingLastLink)
        let client: VersionsClient
        if offline, place.state == .unmounted {
            client = try await Daemon.serveOffline(place.root)
        } else {
            client = try await VersionsClient.connect(to: place, program: "versionsctl", version: toolVersion)
        }
        if client.daemon.version != toolVersion {
            Printer.note("the daemon is of version \(client.daemon.version), this tool of \(toolVersion): mount again")
        }
        return Session(place: place, client: client, target: target, typed: typed?.path)
    }

    /// Calls the daemon; an error about no path is about what was typed, and paths are said as typed.
    func call<Request: ControlRequest>(
        _ request: Request, progress: String? = nil
    ) async throws(ControlError) -> Request.Reply {
        do {
            let reply = try await client.call(request, progress: progress.flatMap { Printer.progress($0) })
            if progress != nil { Printer.endProgress() }
            return reply
        } catch {
            var error = error
            if let path = error.path { error.path = shown(path) } else { error.path = typed }
            throw error
        }
    }

    /// A path of the container as the user would type it.
    func shown(_ path: Path) -> Path {
        PathDisplay(typed: typed, place: place).shown(path)
    }

    /// The target's path; nil if it was given by id.
    var targetPath: Path? {
        if case .path(let path) = target { path } else { nil }
    }

    /// Another typed path as one of this container.
    /// - Returns: nil if it lies outside.
    func inside(_ other: TypedPath) throws(ControlError) -> Path? {
        guard let found = try? ContainerPlace.find(other.path, followingLastLink: false), found.root == place.root
        else { return nil }
        return found.path
    }

    private static func locate(
        _ typed: Path?, _ container: Path?, _ followingLastLink: Bool
    ) throws(ControlError) -> (ContainerPlace, Target) {
        if let typed, isID(typed), !Files.exists(typed) {
            let place = try ContainerPlace.find(container ?? Path("."))
            return (place, .id(typed.description))
        }
        if let container {
            let place = try ContainerPlace.find(container)
            guard let typed else { return (place, .path(place.path)) }
            let found = try ContainerPlace.find(typed, followingLastLink: followingLastLink)
            guard found.root == place.root else {
                throw ControlError(.noContainer, "not in the container \(place.root)", path: typed)
            }
            return (found, .path(found.path))
        }
        let place = try ContainerPlace.find(typed ?? Path("."), followingLastLink: followingLastLink)
        return (place, .path(place.path))
    }

    private static func isID(_ path: Path) -> Bool {
        (6...32).contains(path.bytes.count) && path.bytes.allSatisfy { byte in
            (48...57).contains(byte) || (97...102).contains(byte)
        }
    }
}

extension ContainerPlace {
    /// Whether it is a living mount.
    var isMounted: Bool {
        if case .mounted = state { true } else { false }
    }
}

/// Says paths of a container as the user typed them.
struct PathDisplay: Sendable {
    var typed: Path?
    var place: ContainerPlace

    /// A path relative to the root: behind what was typed where it lies below that, else absolute.
    func shown(_ path: Path) -> Path {
        if path.bytes.first == 47 { return path }
        if path == place.path { return typed ?? Path(".") }
        let prefix = place.path.bytes.isEmpty ? [] : place.path.bytes + [47]
        if path.bytes.starts(with: prefix) {
            let rest = path.bytes.dropFirst(prefix.count)
            guard let typed, typed.bytes != [46] else { return Path(bytes: rest) }
            return Path(bytes: typed.bytes + (typed.bytes.last == 47 ? [] : [47]) + rest)
        }
        return Path(bytes: place.root.bytes + (place.root.bytes == [47] ? [] : [47]) + path.bytes)
    }
}
