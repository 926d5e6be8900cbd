// The containers of a user: mounted ones from the kernel's table of mounts, others from the list that mounts write.

import ControlProtocol
import Glibc
import LocalState
import VersionsClient

enum ContainerList {
    /// How long a daemon may take to answer.
    private static let patience = Duration.seconds(3)

    /// Those that are mounted.
    static func served() async -> [ListedContainer] {
        let groups = mounted()
        return groups.isEmpty ? [] : combine(groups, await DaemonSurvey.take(patience: patience))
    }

    /// All that this user may enter, and for root all; by their directories.
    static func take() async -> [ListedContainer] {
        let listed = await served()
        // What is not served is not looked at: a program that touches it may wait without an end.
        let unserved = listed.filter { $0.state != .mounted }.compactMap(\.mountpoint)
        let known = KnownDirectories(outside: unserved)
        let all = listed + known.unmounted(besides: MountTable.current())
        return all.sorted { $0.directory.bytes.lexicographicallyPrecedes($1.directory.bytes) }
    }

    /// The mounts of each container, the one that shows all of it first.
    static func mounted() -> [[MountTable.Mount]] {
        var groups: [[MountTable.Mount]] = []
        for mount in MountTable.current() where mount.isOurs && (geteuid() == 0 || mount.mayBeEntered) {
            if let index = groups.firstIndex(where: { $0[0].device == mount.device }) {
                groups[index].append(mount)
            } else {
                groups.append([mount])
            }
        }
        return groups.map { $0.filter { $0.root.bytes == [47] } + $0.filter { $0.root.bytes != [47] } }
    }

    /// Finds the daemon of each mount.
    /// - Parameters:
    ///   - user: the user that asks. Another user's processes show their files to root alone.
    ///   - process: finds the daemon of a directory, as far as that user sees it.
    static func combine(
        _ groups: [[MountTable.Mount]], _ daemons: [SurveyedDaemon], user: uid_t = geteuid(),
        process: (Path) -> Int32? = BusyProcess.daemon(of:)
    ) -> [ListedContainer] {
        var rest = daemons
        var listed = groups.map { group -> ListedContainer in
            var entry = ListedContainer(directory: group[0].source, mountpoint: group[0].point, state: .dead)
            // Any user can make a socket that speaks for another's mount: the kernel knows both owners.
            let found = rest.firstIndex { daemon in
                isOwner(daemon, group[0])
                    && group.contains { mount in mount.point == daemon.greeting?.mountpoint }
            }
            if let found { describe(&entry, rest.remove(at: found)) }
            return entry
        }
        for index in listed.indices where listed[index].state == .dead {
            let process = process(listed[index].directory)
            let found = rest.firstIndex { process != nil && $0.process == process }
            if let found {
                describe(&listed[index], rest.remove(at: found))
            } else if process != nil || rest.contains(where: { mayServe($0, groups[index][0], user) }) {
                listed[index].state = .silent
            }
        }
        return listed
    }

    /// Whether a daemon that has not answered may be that of a mount, for all that the user can see.
    private static func mayServe(_ daemon: SurveyedDaemon, _ mount: MountTable.Mount, _ user: uid_t) -> Bool {
        guard daemon.greeting == nil, isOwner(daemon, mount) else { return false }
        return daemon.process == nil || user != 0 && daemon.user != user
    }

    private static func isOwner(_ daemon: SurveyedDaemon, _ mount: MountTable.Mount) -> Bool {
        mount.owner == nil || mount.owner == daemon.user
    }

    private static func describe(_ entry: inout ListedContainer, _ daemon: SurveyedDaemon) {
        // One that speaks another protocol is at work all the same.
        let isForeign = daemon.greeting.map { $0.protocolVersion != Handshake.protocolVersion } ?? false
        entry.state = daemon.status != nil || isForeign ? .mounted : .silent
        entry.since = daemon.since
        entry.version = daemon.greeting?.version
        entry.container = daemon.greeting?.container
        entry.conflicts = daemon.status?.conflicts
        entry.log = daemon.status?.log
    }
}
