// The lists of containers that mounts have written: this user's, and for root those of all users of this machine.

import ControlProtocol
import Glibc
import LocalState
import VersionsClient

struct KnownDirectories {
    private struct List {
        var directory: Path
        var isOwn: Bool
        var paths: [Path]
    }

    /// A user with lists.
    private struct Owner {
        var user: uid_t
        /// Nil for the user of this process.
        var home: StateHome?
    }

    /// Seconds for all lists, and for all directories: each may lie on a network's file system that does not answer.
    private static let patience = 3.0

    private let lists: [List]

    /// - Parameter unserved: mounts that must not be touched.
    init(outside unserved: [Path]) {
        let owners = [Owner(user: geteuid())] + (geteuid() == 0 ? Self.others() : [])
        let found = TimeLimit.map(owners, seconds: Self.patience) { owner in
            (owner.home ?? StateHome()).lists(outside: unserved).map { directory in
                List(
                    directory: directory, isOwn: owner.home == nil,
                    paths: KnownContainers.read(in: directory, owner: owner.user))
            }
        }
        var seen: Set<Path> = []
        lists = found.flatMap { $0 ?? [] }.filter { seen.insert($0.directory).inserted }
    }

    /// The containers that are not mounted. What is gone is told once, and dropped from this user's list.
    func unmounted(besides mounts: [MountTable.Mount]) -> [ListedContainer] {
        let ours = mounts.filter(\.isOurs)
        let hiding = ours + mounts.filter { $0.isServedByProgram && $0.point.bytes != [47] }
        var seen = Set(ours.map(\.source))
        let known = lists.map { list in list.paths.filter { seen.insert($0).inserted } }
        let states = TimeLimit.map(known.flatMap { $0 }, seconds: Self.patience) { Self.state(of: $0, hiding) }
        var (found, next): ([ListedContainer], Int) = ([], 0)
        for (list, paths) in zip(lists, known) {
            var dropped: Set<Path> = []
            for (path, state) in zip(paths, states[next...]) {
                // Nil twice: it is no container any more.
                guard let state = state ?? .silent else {
                    dropped.insert(path)
                    continue
                }
                if state == .gone { dropped.insert(path) }
                if state != .gone || list.isOwn { found.append(ListedContainer(directory: path, state: state)) }
            }
            next += paths.count
            if list.isOwn, !dropped.isEmpty { KnownContainers.drop(dropped, in: list.directory) }
        }
        return found
    }

    /// - Returns: nil for a directory that is no container any more.
    private static func state(of path: Path, _ hiding: [MountTable.Mount]) -> ListedContainer.State? {
        // Another container hides what is in it. Another program's mount is not touched: where it does not answer,
        // not even the end of this process would free the thread that waits for it.
        if hiding.contains(where: { $0.contains(path) }) { return .unmounted }
        var status = stat()
        let state = Path(bytes: path.bytes + Array("/.versionsfs".utf8))
        if state.withCString({ lstat($0, &status) }) == 0 {
            return status.st_mode & S_IFMT == S_IFDIR ? .unmounted : nil
        }
        // A directory that cannot be looked into may be one still.
        guard errno == ENOENT || errno == ENOTDIR else { return .unmounted }
        return path.withCString { lstat($0, &status) } == 0 ? nil : .gone
    }

    /// Of the users that this machine knows itself, in the places that they have unless they choose others.
    private static func others() -> [Owner] {
        guard let bytes = try? Files.content(Path("/etc/passwd")) else { return [] }
        return bytes.split(separator: 10).compactMap { line in
            let fields = line.split(separator: 58, omittingEmptySubsequences: false)
            guard fields.count > 6, let user = uid_t(String(decoding: fields[2], as: UTF8.self)), user != 0,
                fields[5].count > 1, fields[5].first == 47
            else { return nil }
            return Owner(user: user, home: StateHome(user: user, home: Path(bytes: fields[5])))
        }
    }
}

extension MountTable.Mount {
    /// Whether another program serves it, as sshfs does.
    fileprivate var isServedByProgram: Bool { type == "fuse" || type.hasPrefix("fuse.") }
}
