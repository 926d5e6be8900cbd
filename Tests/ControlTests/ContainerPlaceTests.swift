// Finding a container through a path, by attributes, and unmounted ones by their state.

import CLinux
import ControlProtocol
import Glibc
import Testing

@testable import VersionsClient

@Suite("Finding the container")
struct ContainerPlaceTests {
    /// A tree whose root and directories are labeled as the mount would label them.
    private func labeledTree() throws -> String {
        let directory = try temporaryDirectory()
        for path in ["/root", "/root/a", "/root/a/b", "/plain"] { mkdir(directory + path, 0o755) }
        for path in ["/root", "/root/a", "/root/a/b"] { try label(directory + path, socket: "/run/x.sock") }
        return directory
    }

    @Test("by the attributes of the nearest ancestor that exists")
    func attributes() throws {
        let directory = try labeledTree()
        defer { remove(directory) }
        let place = try ContainerPlace.find(Path(directory + "/root/a/b/gone/also gone.txt"))
        #expect(place.root == Path(directory + "/root"))
        #expect(place.path == Path("a/b/gone/also gone.txt"))
        #expect(place.state == .mounted(socket: Path("/run/x.sock")))
        #expect(try ContainerPlace.find(Path(directory + "/root/")).path == Path(""))
    }

    @Test("links are followed, the last one only if asked; dots are resolved")
    func links() throws {
        let directory = try labeledTree()
        defer { remove(directory) }
        symlink("root/a", directory + "/link")
        symlink("nowhere", directory + "/root/dangling")
        #expect(try ContainerPlace.find(Path(directory + "/link/./b/../x")).path == Path("a/x"))
        #expect(try ContainerPlace.find(Path(directory + "/link")).path == Path("a"))
        #expect(throws: ControlError.self) {
            try ContainerPlace.find(Path(directory + "/link"), followingLastLink: false)
        }
        #expect(try ContainerPlace.find(Path(directory + "/root/dangling")).path == Path("dangling"))
    }

    @Test("names that are not UTF-8 are kept")
    func bytes() throws {
        let directory = try labeledTree()
        defer { remove(directory) }
        let name: [UInt8] = [0xFF, 0x20, 0xC3]
        let place = try ContainerPlace.find(Path(bytes: Array((directory + "/root/a/").utf8) + name))
        #expect(place.path.bytes == [0x61, 0x2F] + name)
    }

    @Test("a container that is not mounted is known by its state")
    func unmounted() throws {
        let directory = try labeledTree()
        defer { remove(directory) }
        mkdir(directory + "/plain/.versionsfs", 0o700)
        mkdir(directory + "/plain/.versionsfs/objects", 0o700)
        // Somebody's directory that is only called so.
        mkdir(directory + "/plain/sub", 0o700)
        mkdir(directory + "/plain/sub/.versionsfs", 0o700)
        let place = try ContainerPlace.find(Path(directory + "/plain/sub/x"))
        #expect(place.state == .unmounted && place.root == Path(directory + "/plain") && place.path == Path("sub/x"))
    }

    @Test("anything else is in no container")
    func none() throws {
        let directory = try labeledTree()
        defer { remove(directory) }
        do {
            let place = try ContainerPlace.find(Path(directory + "/plain"))
            Issue.record("found \(place)")
        } catch {
            #expect(error.code == .noContainer)
        }
    }

    @Test("the table of mounts is read with its escapes, and a bind mount of a part knows its path")
    func mounts() throws {
        let line = #"36 35 0:98 /part\040one /mnt/a\134b rw,noatime shared:1 - fuse.versionsfs /home/ann/Notes rw"#
        let mount = try #require(MountTable.parse(line.utf8))
        #expect(mount.isOurs && mount.root == Path("/part one") && mount.point == Path(#"/mnt/a\b"#) && mount.id == 36)
        #expect(mount.device == "0:98")
        #expect(mount.place(of: Path(#"/mnt/a\b/c"#), state: .dead).path == Path("part one/c"))
        #expect(!mount.contains(Path(#"/mnt/a\bc"#)))
        // Another user's is this one's to enter only where it is open to all.
        let others = "36 35 0:50 / /mnt/c rw - fuse.versionsfs /c rw,user_id=4294967294,group_id=0"
        #expect(MountTable.parse(others.utf8)?.mayBeEntered == false)
        #expect(MountTable.parse((others + ",allow_other").utf8)?.mayBeEntered == true)
        #expect(MountTable.parse("nonsense".utf8) == nil)
    }
}

/// Labels a directory as the mount would.
func label(_ directory: String, socket: String, container: String = "0005") throws {
    for (name, value) in [("user.versions.socket", socket), ("user.versions.container", container)] {
        guard linux_lsetxattr(directory, name, value, value.utf8.count, 0) == 0 else {
            throw ControlError(.system, "\(directory): no attribute: errno \(errno)")
        }
    }
}
