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

    private let lists: [List]
    private let unserved: [Path]

    /// - Parameter unserved: mounts that must not be touched.
    init(outside unserved: [Path]) {
        self.unserved = unserved
        let own = StateHome().lists(outside: unserved).map { directory in
            List(directory: directory, isOwn: true, paths: KnownContainers.read(in: directory))
        }
        lists = own + (geteuid() == 0 ? Self.others(unserved) : [])
    }

    /// The containers that are not mounted. What is gone is told once, and dropped from this user's list.
    func unmounted(besides mounts: [MountTable.Mount]) -> [ListedContainer] {
        var (seen, found): (Set<Path>, [ListedContainer]) = (Set(mounts.map(\.source)), [])
        for list in lists {
            var dropped: Set<Path> = []
            for path in list.paths where seen.insert(path).inserted {
                switch state(of: path, mounts) {
                case .unmounted?: found.append(ListedContainer(directory: path, state: .unmounted))
                case .gone? where list.isOwn:
                    found.append(ListedContainer(directory: path, state: .gone))
                    dropped.insert(path)
                default: dropped.insert(path)
                }
            }
            if list.isOwn, !dropped.isEmpty { KnownContainers.drop(dropped, in: list.directory) }
        }
        return found
    }

    /// - Returns: nil for a directory that is no container any more.
    private func state(of path: Path, _ mounts: [MountTable.Mount]) -> ListedContainer.State? {
        // Another container hides what is in it.
        if mounts.contains(where: { $0.contains(path) }) { return .unmounted }
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
    private static func others(_ unserved: [Path]) -> [List] {
        guard let bytes = try? Files.content(Path("/etc/passwd")) else { return [] }
        var seen: Set<Path> = []
        return bytes.split(separator: 10).flatMap { line -> [List] in
            let fields = line.split(separator: 58, omittingEmptySubsequences: false)
            guard fields.count > 6, let user = uid_t(String(decoding: fields[2], as: UTF8.self)), user != 0,
                fields[5].count > 1, fields[5].first == 47
            else { return [] }
            let home = StateHome(user: user, home: Path(bytes: fields[5]))
            return home.lists(outside: unserved).compactMap { directory in
                guard seen.insert(directory).inserted else { return nil }
                let paths = KnownContainers.read(in: directory, owner: user)
                return paths.isEmpty ? nil : List(directory: directory, isOwn: false, paths: paths)
            }
        }
    }
}
