// From typed paths to a container, its daemon and a target there.

import ControlProtocol
import Glibc
import VersionModel
import VersionsClient

/// A command's container, the client for it, and what the command is about.
struct Session {
    var place: ContainerPlace
    var client: VersionsClient
    var target: Target
    /// What was typed; nil for the current directory.
    var typed: Path?
    /// How paths of the container are said.
    var display: PathDisplay

    /// Connects to the container of a path.
    /// - Parameters:
    ///   - typed: a path or an id; nil for the current directory.
    ///   - offline: whether an unmounted container will do.
    ///   - other: whose connection serves if it is to the same container.
    static func open(
        _ typed: TypedPath?, _ option: ContainerOption, followingLastLink: Bool = true, offline: Bool = false,
        reusing other: Session? = nil
    ) async throws(ControlError) -> Session {
        let (place, target) = try locate(typed?.path, option.container?.path, followingLastLink)
        let client: VersionsClient
        if let other, other.place.root == place.root, other.place.state == place.state {
            client = other.client
        } else if offline, place.state == .unmounted {
            client = try await Daemon.serveOffline(place.root)
        } else {
            client = try await VersionsClient.connect(to: place, program: "versionsctl", version: toolVersion)
        }
        if client.daemon.version != toolVersion, other == nil {
            Printer.note(
                "The daemon has version \(client.daemon.version), and versionsctl \(toolVersion). "
                    + "Mount the container again.")
        }
        let session = Session(
            place: place, client: client, target: target, typed: typed?.path,
            display: try display(place, target, typed?.path, option.container?.path))
        return await session.byName(typed)
    }

    /// A name may look like an id: what was deleted under the name comes before what has the id.
    private func byName(_ typed: TypedPath?) async -> Session {
        guard let typed, let named = named(typed) else { return self }
        do throws(ControlError) {
            _ = try await client.call(ShowRequest(named.target, version: nil))
        } catch {
            if error.code == .notFound || error.code == .nothingToDo {
                // It may have been a directory.
                let entries = try? await client.call(DeletedRequest(named.target))
                return entries?.isEmpty == false ? named : self
            }
        }
        // What else is wrong with the name is said of it, and the id is not taken for it.
        return named
    }

    /// What was typed stands for a place if it is a path; an id stands for none, and paths are said as from here.
    private static func display(
        _ place: ContainerPlace, _ target: Target, _ typed: Path?, _ container: Path?
    ) throws(ControlError) -> PathDisplay {
        if case .path = target, typed != nil { return PathDisplay(typed: typed, place: place) }
        guard let container else { return PathDisplay(typed: nil, place: place) }
        if let here = try? ContainerPlace.find(Path(".")), here.root == place.root {
            return PathDisplay(typed: nil, place: here)
        }
        return PathDisplay(typed: container, place: try ContainerPlace.find(container))
    }

    /// Calls the daemon; an error about no path is about what was typed, and paths are said as typed.
    func call<Request: ControlRequest>(
        _ request: Request, progress: String? = nil
    ) async throws(ControlError) -> Request.Reply {
        let reply = try await call(request, on: progress.flatMap { ProgressLine($0) })
        if progress != nil { Printer.endProgress() }
        return reply
    }

    /// The same with a line of progress that goes on over several calls.
    func call<Request: ControlRequest>(
        _ request: Request, on line: ProgressLine?
    ) async throws(ControlError) -> Request.Reply {
        do {
            return try await client.call(request, progress: line?.listener)
        } catch {
            throw await NameAdvice(session: self).advised(said(error))
        }
    }

    /// An error in the words of the person who typed: paths as typed, times by the local clock.
    private func said(_ error: ControlError) -> ControlError {
        var error = error
        error.path = error.path.flatMap { isAncestor($0, of: error) ? nil : shown($0) } ?? typed
        if let begins = error.begins {
            error.advice = "the earliest time is --at '\(Words.typed(begins))'"
        } else if let path = error.path, let advice = error.advice {
            error.advice = advice.split(separator: " ", omittingEmptySubsequences: false).map { word in
                ["FILE", "FILE`"].contains(word) ? Style.printable(path) + word.dropFirst(4) : String(word)
            }.joined(separator: " ")
        }
        return error
    }

    /// Whether an error that something is not there names a directory on the way to what was typed.
    private func isAncestor(_ path: Path, of error: ControlError) -> Bool {
        guard error.code == .notFound, let target = targetPath, path.bytes.first != 47 else { return false }
        return target != path && target.bytes.starts(with: path.bytes.isEmpty ? [] : path.bytes + [47])
    }

    /// A path of the container as the user would type it.
    func shown(_ path: Path) -> Path { display.shown(path) }

    /// The same for what was asked for at another typed path.
    func shown(_ path: Path, asked: TypedPath?) -> Path {
        guard let asked, let found = try? inside(asked), found == path else { return shown(path) }
        return asked.path
    }

    /// The target's path; nil if it was given by id.
    var targetPath: Path? {
        if case .path(let path) = target { path } else { nil }
    }

    /// The same for what was typed as a path, where it was taken for an id.
    /// - Returns: nil if it was not, or lies in another container.
    func named(_ typed: TypedPath) -> Session? {
        guard targetPath == nil, let found = try? ContainerPlace.find(typed.path, followingLastLink: false),
            found.root == place.root
        else { return nil }
        var session = self
        session.place = found
        session.target = .path(found.path)
        session.display = PathDisplay(typed: typed.path, place: found)
        return session
    }

    /// Throws if there is nothing at a path that was typed.
    func requireThere(_ typed: TypedPath?, advice: String? = nil) throws(ControlError) {
        guard let typed, targetPath != nil, !Files.exists(typed.path), errno == ENOENT || errno == ENOTDIR else {
            return
        }
        let likely = NameAdvice(session: self).neighbors(of: typed.path)
        throw ControlError(
            .notFound, "no such file or directory", path: typed.path, advice: NameAdvice.question(likely) ?? advice)
    }

    /// Another typed path as one of this container.
    /// - Returns: nil if it lies outside.
    func inside(_ other: TypedPath) throws(ControlError) -> Path? {
        do {
            let found = try ContainerPlace.find(other.path, followingLastLink: false)
            return found.root == place.root ? found.path : nil
        } catch {
            // A path that cannot be followed lies in no known container.
            guard error.code == .noContainer else { throw error }
            return nil
        }
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
                throw ControlError(.noContainer, "not in the container \(place.root)", path: typed,
                    advice: "leave out --container, or give a path in that container")
            }
            return (found, .path(found.path))
        }
        guard let typed else {
            let place = try here()
            return (place, .path(place.path))
        }
        let place = try ContainerPlace.find(typed, followingLastLink: followingLastLink)
        return (place, .path(place.path))
    }

    /// The container of the current directory.
    private static func here() throws(ControlError) -> ContainerPlace {
        do { return try ContainerPlace.find(Path(".")) } catch {
            guard error.code == .noContainer else { throw error }
            var error = error
            error.message = "the current directory is not in a container"
            error.advice = "`cd` into a container, or name it with --container PATH"
            throw error
        }
    }

    /// What a daemon takes for the beginning of an id. A file of that name comes first.
    private static func isID(_ path: Path) -> Bool {
        (4...32).contains(path.bytes.count) && path.bytes.allSatisfy { byte in
            (48...57).contains(byte) || (97...102).contains(byte)
        }
    }
}

extension ContainerPlace {
    /// Whether it is a living mount.
    var isMounted: Bool {
        if case .mounted = state { true } else { false }
    }

    /// Whether another user has it mounted for that user alone.
    var isClosed: Bool {
        if case .closed = state { true } else { false }
    }
}
