// Duties that the kernel leaves to the file system, and what the file system tells the kernel.

import CFuse3
@testable import FUSE
import Foundation
import Glibc
import SystemPackage
import Testing

extension MountTests {
    @Test(
        "Writing and truncating without the right to it drops set-id bits",
        .enabled(if: geteuid() == 0, "only root can run a program as somebody else"))
    func setIDBitsAreDropped() throws {
        try withMount(passthrough: false, options: ["allow_other"]) { mount, backing, system in
            for command in ["echo x >> \"$1\"", ": > \"$1\""] {
                let file = mount + "/set-id"
                try write([1], to: file)
                try expectSuccess(chmod(file, 0o4777))
                try expectSuccess(chmod(mount + "/..", 0o755))
                let before = system.state.with { $0.setIDDrops }
                let child = Process()
                child.executableURL = URL(filePath: "/usr/bin/setpriv")
                child.arguments = ["--reuid=65534", "--clear-groups", "/bin/sh", "-c", command, "sh", file]
                try child.run()
                child.waitUntilExit()
                #expect(child.terminationStatus == 0)
                var status = stat()
                try expectSuccess(stat(backing + "/set-id", &status))
                #expect(status.st_mode & 0o7777 == 0o777)
                #expect(system.state.with { $0.setIDDrops } == before + 1)
            }
        }
    }

    @Test("The kernel forgets a name that it is told to forget")
    func namesAreInvalidated() throws {
        try withMount(passthrough: false) { mount, backing, system in
            var status = stat()
            #expect(stat(mount + "/new", &status) == -1)
            try write([1], to: backing + "/new")
            #expect(stat(mount + "/new", &status) == -1, "a missing name is cached")
            let session = try #require(system.session)
            session.invalidate(entry: Array("new".utf8), in: 1)
            try expectSuccess(stat(mount + "/new", &status))
            #expect(status.st_size == 1)
            try write([1, 2, 3], to: backing + "/new")
            try expectSuccess(stat(mount + "/new", &status))
            #expect(status.st_size == 1, "attributes are cached")
            let known = try system.entry(1, Array("new".utf8))
            defer { system.forget(known.node, lookups: 1) }
            session.invalidate(node: known.node, data: true)
            try expectSuccess(stat(mount + "/new", &status))
            #expect(status.st_size == 3)
            #expect(try contents(mount + "/new") == [1, 2, 3])
            try expectSuccess(unlink(backing + "/new"))
            session.deleted(entry: Array("new".utf8), of: known.node, in: 1)
            #expect(stat(mount + "/new", &status) == -1)
        }
    }

    @Test("A session that has ended is harmless")
    func endedSessionsAreHarmless() throws {
        var system: Loopback?
        try withMount(passthrough: true) { mount, _, served in
            _ = try names(in: mount)
            system = served
        }
        let session = try #require(system?.session)
        session.invalidate(node: 1, data: true)
        session.unregister(backing: 1)
        #expect(throws: Errno.self) { try session.register(backing: FileDescriptor(rawValue: 0)) }
    }

    @Test("A message that is cut short, or longer than it says, gives no value")
    func shortMessagesAreNoTrap() {
        let bytes = [UInt8](repeating: 0xff, count: 44)
        bytes.withUnsafeBytes { message in
            #expect(message.value(wire_header_in.self) != nil)
            #expect(message.value(UInt32.self, at: 40) == .max)
            #expect(message.value(UInt32.self, at: 41) == nil)
            #expect(message.value(wire_create_in.self, at: 40) == nil)
            #expect(message.value(UInt8.self, at: -1) == nil)
            #expect(message.value(UInt8.self, at: .max) == nil)
        }
    }

    @Test("A listing ends when its buffer is full, and leaves impossible names out")
    func listingsEnd() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 8)
        defer { buffer.deallocate() }
        var listing = Listing(into: buffer, wantsAttributes: false)
        func add(_ name: [UInt8]) -> Bool { listing.add(name: name, node: 1, mode: S_IFREG, nextOffset: 1) }
        for name in [[], [0], Array("a/b".utf8), [UInt8](repeating: 65, count: 256)] {
            #expect(add(name))
        }
        #expect(listing.used == 0)
        #expect(add(Array("12345678".utf8)))
        #expect(add(Array("1".utf8)))
        #expect(listing.used == 64)
        #expect(!add(Array("2".utf8)))
    }
}
