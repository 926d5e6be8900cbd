// The list of containers: which daemon a mount has, and how it is shown.

import ControlProtocol
import Testing
import VersionModel

@testable import VersionsClient
@testable import versionsctl

@Suite("The list of containers") struct ContainerListTests {
    private func mount(_ line: String) throws -> MountTable.Mount { try #require(MountTable.parse(line.utf8)) }

    private func group(_ directory: String, user: UInt32 = 1000) throws -> [MountTable.Mount] {
        let options = "rw,user_id=\(user),allow_other"
        let device = "0:\(directory.utf8.count)"
        return [try mount("36 35 \(device) / \(directory) rw - fuse.versionsfs \(directory) \(options)")]
    }

    private func daemon(
        at point: String?, user: UInt32 = 1000, process: Int32 = 7, answers: Bool = true
    ) -> SurveyedDaemon {
        var status = Samples.status
        status.conflicts = 3
        return SurveyedDaemon(
            process: process, user: user, since: Samples.noon,
            greeting: point.map { .init(version: "0.0.9", container: Samples.status.container, mountpoint: Path($0)) },
            status: point != nil && answers ? status : nil)
    }

    @Test("A mount gets the daemon of its owner that says it is mounted there")
    func owners() throws {
        let groups = [try group("/a"), try group("/bb")]
        let listed = ContainerList.combine(
            groups, [daemon(at: "/a", user: 1001), daemon(at: "/bb"), daemon(at: "/a")], process: { _ in nil })
        #expect(listed.map(\.state) == [.mounted, .mounted] && listed.map(\.conflicts) == [3, 3])
        let forged = ContainerList.combine([try group("/a")], [daemon(at: "/a", user: 1001)], process: { _ in nil })
        #expect(forged.map(\.state) == [.dead] && forged[0].conflicts == nil)
    }

    @Test("A daemon that does not answer is told from one that is gone")
    func silent() throws {
        let groups = [try group("/a")]
        func state(
            _ daemons: [SurveyedDaemon], _ process: Int32?, as user: UInt32 = 1001
        ) -> [ListedContainer.State] {
            ContainerList.combine(groups, daemons, user: user, process: { _ in process }).map(\.state)
        }
        #expect(state([], nil) == [.dead])
        #expect(state([], 7) == [.silent])
        #expect(state([daemon(at: nil)], nil) == [.silent])
        #expect(state([daemon(at: nil, user: 0)], nil) == [.dead])
        // Who sees all processes of the owner knows better than to take any silent daemon for that of the mount.
        #expect(state([daemon(at: nil)], nil, as: 1000) == [.dead] && state([daemon(at: nil)], nil, as: 0) == [.dead])
        #expect(state([daemon(at: "/a", answers: false)], 7) == [.silent])
        let stuck = ContainerList.combine(groups, [daemon(at: nil)], process: { _ in 7 })
        #expect(stuck[0].since == Samples.noon && stuck[0].state == .silent)
    }

    @Test("The list shows the state, conflicts, times and paths, and versions that differ")
    func text() {
        var mounted = ListedContainer(directory: Path("/a"), mountpoint: Path("/a"), state: .mounted)
        mounted.conflicts = 2
        mounted.since = Samples.noon.advanced(byNanoseconds: -7_200_000_000_000)
        mounted.version = "0.0.9"
        var elsewhere = mounted
        (elsewhere.directory, elsewhere.conflicts, elsewhere.version) = (Path("/b"), 0, "0.1.0")
        let lines = ListText(style: .plain, now: Samples.noon, version: "0.1.0").list([
            mounted, elsewhere, .init(directory: Path("/c"), state: .unmounted),
            .init(directory: Path("/d"), state: .gone),
        ]).split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        let time = Words.exact(Samples.noon.advanced(byNanoseconds: -7_200_000_000_000))
        #expect(lines == [
            "STATE CONFLICTS SINCE PATH", "mounted 2 2 h ago \(time) /a (version 0.0.9; mount it again for 0.1.0)",
            "mounted 0 2 h ago \(time) /b at /a", "not mounted /c", "gone /d",
        ])
        #expect(ListText(style: .plain, now: Samples.noon).list([]).contains("versionsctl mount DIR"))
    }

    @Test("A socket that answers nothing ends the survey after its time")
    func survey() async throws {
        let directory = try temporaryDirectory()
        defer { remove(directory) }
        let path = Path(directory + "/a.sock")
        let listening = try StuckSocket(at: path.description)
        defer { listening.close() }
        // How long it takes here says nothing: other tests keep the threads of Swift's pool busy.
        let sockets = [path, Path(directory + "/none.sock")]
        let found = await DaemonSurvey.take(sockets: sockets, patience: .milliseconds(300))
        #expect(found.count == 1 && found[0].greeting == nil && found[0].process != nil)
    }
}
