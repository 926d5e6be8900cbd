// The driver against the real kernel, with a loopback file system behind it.

@testable import FUSE
import CFuse3
import Glibc
import SystemPackage
import Testing

/// Serialized: each test counts what its mount leaves behind.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct MountTests {
    @Test("What is written is read, renamed and removed", arguments: [false, true])
    func filesWork(passthrough: Bool) throws {
        try withMount(passthrough: passthrough) { mount, backing, _ in
            try write(Array("one\n".utf8), to: mount + "/a")
            try write(Array("two\n".utf8), to: mount + "/a", flags: O_WRONLY | O_APPEND)
            #expect(try contents(mount + "/a") == Array("one\ntwo\n".utf8))
            #expect(try contents(backing + "/a") == Array("one\ntwo\n".utf8))
            try expectSuccess(mkdir(mount + "/d", 0o700))
            try expectSuccess(rename(mount + "/a", mount + "/d/b"))
            #expect(try names(in: mount) == ["d"])
            try expectSuccess(symlink("d/b", mount + "/s"))
            #expect(try contents(mount + "/s").count == 8)
            try expectSuccess(link(mount + "/d/b", mount + "/l"))
            var status = stat()
            try expectSuccess(stat(mount + "/l", &status))
            #expect(status.st_nlink == 2)
            #expect(status.st_size == 8)
            try expectSuccess(truncate(mount + "/l", 3))
            #expect(try contents(mount + "/d/b") == Array("one".utf8))
            for name in ["/s", "/l", "/d/b"] { try expectSuccess(unlink(mount + name)) }
            try expectSuccess(rmdir(mount + "/d"))
            #expect(try names(in: backing) == [])
            #expect(Glibc.open(mount + "/none", O_RDONLY) == -1)
            #expect(errno == ENOENT)
        }
        #expect(try leftovers() == [])
    }

    @Test("Root gets passthrough, and everybody what the kernel offers")
    func featuresAreNegotiated() throws {
        try withMount(passthrough: true) { mount, _, system in
            _ = try names(in: mount)
            let features = try #require(system.features)
            #expect(features.passthrough == (geteuid() == 0))
            #expect(features.parallelDirectoryOperations)
            #expect(features.killPrivileges)
            #expect(features.accessLists)
        }
    }

    @Test("A directory of 5,000 names is listed completely, with and without attributes")
    func bigDirectoriesAreListed() throws {
        try withMount(passthrough: false) { mount, backing, _ in
            let expected = (0..<5_000).map { "name-\($0)" }.sorted()
            for name in expected { try write([], to: backing + "/" + name) }
            #expect(try names(in: mount).sorted() == expected)
            var status = stat()
            for name in expected { try expectSuccess(stat(mount + "/" + name, &status)) }
            #expect(try names(in: mount).sorted() == expected)
            try withFile(mount, O_RDONLY | O_DIRECTORY) { directory in
                let stream = try #require(fdopendir(dup(directory)))
                defer { closedir(stream) }
                for _ in 0..<100 { _ = readdir(stream) }
                let place = telldir(stream)
                let next = try #require(readdir(stream)).pointee.d_ino
                seekdir(stream, place)
                let again = try #require(readdir(stream)).pointee.d_ino
                #expect(again == next)
            }
        }
    }

    @Test("O_TMPFILE gives a nameless file, which can be given a name", arguments: [false, true])
    func temporaryFilesWork(passthrough: Bool) throws {
        try withMount(passthrough: passthrough) { mount, backing, _ in
            try withFile(mount, O_TMPFILE | O_RDWR) { file in
                #expect(Glibc.write(file, "hidden", 6) == 6)
                #expect(try names(in: backing) == [])
                try expectSuccess(
                    linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, mount + "/named", AT_SYMLINK_FOLLOW))
            }
            #expect(try contents(mount + "/named") == Array("hidden".utf8))
        }
    }

    @Test("Extended attributes are set, read, listed and removed")
    func extendedAttributesWork() throws {
        try withMount(passthrough: false) { mount, _, _ in
            let file = mount + "/f"
            try write([], to: file)
            let value = [UInt8](0...255)
            try expectSuccess(setxattr(file, "user.one", value, value.count, 0))
            try expectSuccess(setxattr(file, "user.empty", value, 0, 0))
            var read = [UInt8](repeating: 0, count: 1000)
            #expect(getxattr(file, "user.one", &read, read.count) == 256)
            #expect(Array(read[..<256]) == value)
            #expect(getxattr(file, "user.one", nil, 0) == 256)
            #expect(getxattr(file, "user.one", &read, 10) == -1)
            #expect(errno == ERANGE)
            #expect(getxattr(file, "user.empty", &read, read.count) == 0)
            var list = [CChar](repeating: 0, count: 1000)
            let count = try expectSuccess(listxattr(file, &list, list.count))
            #expect(count >= "user.one".count + "user.empty".count + 2)
            try expectSuccess(removexattr(file, "user.one"))
            #expect(getxattr(file, "user.one", &read, read.count) == -1)
            #expect(errno == ENODATA)
        }
    }

    @Test("Stores into a shared mapping reach the file", arguments: [false, true])
    func sharedMappingsWork(passthrough: Bool) throws {
        try withMount(passthrough: passthrough) { mount, backing, _ in
            let size = 3 * 4096
            try write([UInt8](repeating: 65, count: size), to: mount + "/m")
            try withFile(mount + "/m", O_RDWR) { file in
                let mapping = try #require(mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0))
                #expect(mapping != MAP_FAILED)
                mapping.storeBytes(of: 66, toByteOffset: 5_000, as: UInt8.self)
                // Before munmap, so that nothing is left to write while it holds the process's memory lock.
                try expectSuccess(msync(mapping, size, Int32(MS_SYNC)))
                try expectSuccess(munmap(mapping, size))
            }
            let read = try contents(backing + "/m")
            #expect(read.count == size)
            #expect(read[5_000] == 66)
            #expect(read.filter { $0 == 65 }.count == size - 1)
        }
    }

    @Test("A big file goes through in both directions", arguments: [false, true])
    func bigFilesWork(passthrough: Bool) throws {
        try withMount(passthrough: passthrough) { mount, backing, _ in
            let bytes = (0..<(9 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 7) }
            try write(bytes, to: mount + "/big")
            #expect(try contents(mount + "/big") == bytes)
            #expect(try contents(backing + "/big") == bytes)
        }
        #expect(try leftovers() == [])
    }

    @Test("Eight threads create, look at and remove files at once", arguments: [false, true])
    func concurrencyWorks(passthrough: Bool) throws {
        try withMount(passthrough: passthrough) { mount, backing, system in
            let failures = Monitor<[String]>([])
            let threads = (0..<8).map { number in
                RunningThread {
                    for turn in 0..<200 {
                        let path = mount + "/t\(number)-\(turn % 5)"
                        do {
                            try write(Array("\(number) \(turn)".utf8), to: path)
                            let read = try contents(path)
                            if read != Array("\(number) \(turn)".utf8) { throw Errno.ioError }
                            try expectSuccess(unlink(path))
                        } catch {
                            failures.with { $0.append("\(path): \(error)") }
                        }
                    }
                }
            }
            for thread in threads { thread.join() }
            #expect(failures.with { $0 } == [])
            let left = try names(in: backing)
            #expect(left == [])
            // RELEASE comes in the background.
            system.state.wait { $0.openHandles == 0 ? () : nil }
        }
        #expect(try leftovers() == [])
    }

    @Test("A file that one thread creates has the umask of its caller")
    func umaskIsTheCallers() throws {
        try withMount(passthrough: false) { mount, backing, _ in
            let before = umask(0o027)
            defer { umask(before) }
            try expectSuccess(mkdir(mount + "/d", 0o777))
            var status = stat()
            try expectSuccess(stat(backing + "/d", &status))
            #expect(status.st_mode & 0o777 == 0o750)
        }
    }
}
