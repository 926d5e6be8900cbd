// Where the control socket lies, and the directories that are not trusted.

import ControlProtocol
import ControlService
import Glibc
import Testing
import VersionModel

@Suite("The socket's place")
struct SocketPlaceTests {
    private let container = ContainerID(high: 5, low: 6)

    @Test("root's is in /run/versionsfs and open to everyone")
    func root() {
        let place = SocketPlace(container: container, user: 0, runtimeDirectory: "/run/user/0")
        #expect(place.path == "/run/versionsfs/00000000000000050000000000000006.sock")
        #expect(place.mode == 0o666)
    }

    @Test("a user's is in the runtime directory, or else in /tmp, and the user's alone")
    func user() throws {
        let directory = try temporaryDirectory()
        defer { remove(directory) }
        let user = geteuid() == 0 ? 12_345 : geteuid()
        let place = SocketPlace(container: container, user: user, runtimeDirectory: nil, temporaryDirectory: directory)
        #expect(place.directory == directory + "/versionsfs-\(user)" && place.mode == 0o600)
        // A runtime directory that is somebody else's is passed over.
        if user != geteuid() {
            let other = SocketPlace(container: container, user: user, runtimeDirectory: directory)
            #expect(other.directory == "/tmp/versionsfs-\(user)")
            chown(directory, user, 0)
        }
        let own = SocketPlace(container: container, user: user, runtimeDirectory: directory)
        #expect(own.directory == directory + "/versionsfs")
    }

    @Test("a directory that others can write, a link, and somebody else's directory are refused")
    func unsafe() throws {
        let directory = try temporaryDirectory()
        defer { remove(directory) }
        let place = SocketPlace(path: directory + "/c.sock")
        try place.prepare()
        chmod(directory, 0o777)
        #expect(throws: ControlError.self) { try place.prepare() }
        chmod(directory, 0o700)
        symlink(directory, directory + "/link")
        #expect(throws: ControlError.self) { try SocketPlace(path: directory + "/link/c.sock").prepare() }
        if geteuid() == 0 {
            chown(directory, 1, 1)
            #expect(throws: ControlError.self) { try place.prepare() }
            chown(directory, 0, 0)
        }
    }
}
