// What is kept outside of containers: the list of them, and logs in a file and in the journal.

import ControlProtocol
import Foundation
import Glibc
import Support
import Synchronization
import Testing
import VersionModel

@testable import LocalState
@testable import versionsctl

@Suite("What a machine keeps outside of containers") struct LocalStateTests {
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = try temporaryDirectory()
        defer { remove(directory) }
        try body(directory)
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test("The list keeps paths of any bytes, each once, in lines that people can read")
    func list() throws {
        try withDirectory { directory in
            let place = Path(directory + "/state/versionsfs")
            let paths = [
                Path("/home/ann/Notes"), Path("/srv/100%\nsure"), Path(bytes: Array("/srv/\u{E4}".utf8)),
                Path(bytes: Array("/srv/".utf8) + [0xFF, 0xC3]),
            ]
            for path in paths + paths { #expect(KnownContainers.add(path, in: place)) }
            #expect(KnownContainers.read(in: place) == paths)
            let written = try text("\(place)/containers")
            #expect(written == "/home/ann/Notes\n/srv/100%25%0Asure\n/srv/\u{E4}\n/srv/%FF%C3\n")
            KnownContainers.drop([paths[1], paths[3]], in: place)
            #expect(KnownContainers.read(in: place) == [paths[0], paths[2]])
        }
    }

    @Test("A list that others may write to is neither read nor written, and one that cannot be made fails nothing")
    func refused() throws {
        try withDirectory { directory in
            let place = Path(directory + "/versionsfs")
            #expect(KnownContainers.add(Path("/a"), in: place))
            chmod("\(place)", 0o777)
            #expect(KnownContainers.read(in: place).isEmpty && !KnownContainers.add(Path("/b"), in: place))
            #expect(!KnownContainers.add(Path("/b"), in: Path("/proc/none/versionsfs")))
            #expect(LogFile(Path("/proc/none/logs/a.log")) == nil)
        }
    }

    @Test("Places in a container give way to the directory of the socket, and another user's are not taken")
    func places() {
        let variables = ["XDG_STATE_HOME": "/home/ann/state", "HOME": "/home/ann"]
        let home = StateHome(user: 4321) { variables[$0] }
        #expect(home.state == Path("/home/ann/state/versionsfs"))
        #expect(home.logs == Path("/home/ann/state/versionsfs/logs"))
        #expect(home.lists(outside: [Path("/home/an")]) == [home.state, Path("/tmp/versionsfs-4321")])
        #expect(home.lists(outside: [Path("/home/ann")]) == [Path("/tmp/versionsfs-4321")])
        #expect(home.logDirectories(outside: [home.state]) == [Path("/tmp/versionsfs-4321/logs")])
        // This is root's, or this user's.
        let others = StateHome(user: getuid() + 1) { ["XDG_STATE_HOME": "/", "HOME": "/home/ann"][$0] }
        #expect(others.state == Path("/home/ann/.local/state/versionsfs") || getuid() != 0)
        let root = StateHome(user: 0) { _ in nil }
        #expect(root.state == Path("/var/lib/versionsfs") && root.logs == Path("/var/log/versionsfs"))
    }

    @Test("Root takes no place that another user can reach, nor one that another user would let it make")
    func reachable() throws {
        guard geteuid() == 0 else { return }
        try withDirectory { directory in
            func state(_ path: String) -> String {
                StateHome(user: 0) { $0 == "XDG_STATE_HOME" ? directory + path : nil }.state.description
            }
            chmod(directory, 0o755)
            mkdir(directory + "/own", 0o700)
            mkdir(directory + "/ann", 0o700)
            chown(directory + "/ann", 4321, 4321)
            mkdir(directory + "/ann/roots", 0o700)
            mkdir(directory + "/shared", 0o700)
            chmod(directory + "/shared", 0o1777)
            #expect(state("/own") == directory + "/own/versionsfs" && state("/own/.local/s").hasPrefix(directory))
            for path in ["/ann", "/ann/.local/state", "/ann/roots", "/ann/roots/s", "/shared", "/shared/s"] {
                #expect(state(path) == "/var/lib/versionsfs", "\(path)")
            }
        }
    }

    @Test("A directory of logs is refused where another user has made the one that it is in, or a link stands there")
    func foreign() throws {
        try withDirectory { directory in
            mkdir(directory + "/versionsfs-1", 0o777)
            chmod(directory + "/versionsfs-1", 0o777)
            mkdir(directory + "/target", 0o700)
            symlink("target", directory + "/versionsfs-2")
            for name in ["versionsfs-1", "versionsfs-2"] {
                mkdir(directory + "/\(name)/logs", 0o700)
                #expect(LogFile(Path(directory + "/\(name)/logs/a.log")) == nil, "\(name)")
            }
            #expect(LogFile(Path(directory + "/versionsfs-3/logs/a.log")) != nil)
        }
    }

    @Test("A place that leads into a container over symbolic links gives way, too")
    func links() throws {
        try withDirectory { directory in
            for name in ["c", "d", "c/s"] { mkdir(directory + "/" + name, 0o755) }
            symlink("d/../c/s", directory + "/relative")
            symlink(directory + "/relative", directory + "/absolute")
            symlink("loop", directory + "/loop")
            let covered = [Path(directory + "/c")]
            for name in ["c", "relative/x", "absolute", "d/../absolute/none/x", "./c/x"] {
                #expect(Path(directory + "/" + name).leads(into: covered), "\(name)")
            }
            for name in ["d", "cc", "loop/x", "none/absolute", "absolute/../../../d"] {
                #expect(!Path(directory + "/" + name).leads(into: [Path(directory + "/c/s/t"), Path(directory + "/e")]))
            }
        }
    }

    @Test("What does not answer in time holds up nothing else")
    func patience() {
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        let found = TimeLimit.map([1, 2, 3], seconds: 0.5) { number in
            if number == 2 { gate.wait() }
            return number * 10
        }
        #expect(found == [10, nil, 30])
        #expect(TimeLimit.run(seconds: 60) { 7 } == 7)
        #expect(TimeLimit.map(Array(0..<500), seconds: 60) { $0 } == (0..<500).map { $0 })
    }

    @Test("A pipe, a link or a directory is no log, and nothing waits for one")
    func pipes() throws {
        try withDirectory { directory in
            let path = directory + "/a.log"
            try #require(LogFile(Path(path))).write("line")
            mkfifo(path + ".1", 0o600)
            #expect(try LogTail(Path(path)).lines(atMost: nil) == ["line"])
            unlink(path + ".1")
            symlink(path, path + ".1")
            #expect(try LogTail(Path(path)).lines(atMost: nil) == ["line"])
            mkfifo(directory + "/pipe", 0o600)
            for name in ["/pipe", "/a.log.1", ""] {
                #expect(throws: ControlError.self) { _ = try LogTail(Path(directory + name)) }
            }
        }
    }

    @Test("The name of a log tells the directory, and differs for two of one name")
    func names() {
        let names = ["/home/ann/My Notes", "/home/bob/My Notes"].map { LogPlace.name(for: Path($0)) }
        #expect(names.allSatisfy { $0.hasPrefix("My_Notes-") && $0.hasSuffix(".log") } && names[0] != names[1])
    }

    @Test("A log has a limit, and one predecessor; a line stays a line")
    func rotation() throws {
        try withDirectory { directory in
            let path = directory + "/logs/a.log"
            let log = try #require(LogFile(Path(path), limit: 100))
            for number in 0..<50 { log.write("line \(number)\n\u{1B}") }
            let (present, before) = (try text(path), try text(path + ".1"))
            #expect(present.utf8.count <= 100 && before.utf8.count <= 100)
            #expect(present.hasSuffix("line 49\\x0a\\x1b\n"))
            let lines = try LogTail(Path(path)).lines(atMost: nil)
            #expect(lines.count > 3 && lines == ((50 - lines.count)..<50).map { "line \($0)\\x0a\\x1b" })
            #expect(try LogTail(Path(path)).lines(atMost: 2).count == 2)
        }
    }

    private struct Enough: Error {}

    @Test("Who follows a log gets every line once, over replacements of the file")
    func follow() throws {
        try withDirectory { directory in
            let path = Path(directory + "/a.log")
            let log = try #require(LogFile(path, limit: 2000))
            log.write("line 0")
            let tail = try LogTail(path)
            var seen = try tail.lines(atMost: 10)
            let gate = DispatchSemaphore(value: 0)
            // One line is on its way at a time: a file that is replaced twice between two looks is lost.
            Thread.detachNewThread {
                for number in 1...300 {
                    log.write("line \(number)")
                    gate.wait()
                }
            }
            #expect(throws: Enough.self) {
                try tail.follow { line in
                    seen.append(line)
                    gate.signal()
                    if seen.count == 301 { throw Enough() }
                }
            }
            #expect(seen == (0...300).map { "line \($0)" })
        }
    }

    @Test("An entry of the journal has its fields, a text of several lines, and a limit")
    func journal() throws {
        try withDirectory { directory in
            let path = Path(directory + "/socket")
            #expect(Journal(at: path) == nil)
            let socket = try FakeJournal(at: path.description)
            let journal = try #require(Journal(at: path))
            let container = Path(bytes: Array("/srv/a\nb".utf8) + [0xFF])
            journal.send("one\ntwo", priority: LOG_WARNING, container: container)
            let entry = try #require(try socket.entry())
            #expect(entry == [
                "MESSAGE": Array("one\ntwo".utf8), "PRIORITY": Array("4".utf8),
                "SYSLOG_IDENTIFIER": Array("versionsfs".utf8), "VERSIONSFS_CONTAINER": container.bytes,
            ])
            journal.send(String(repeating: "\u{E4}", count: 70_000), priority: LOG_INFO, container: container)
            let long = try #require(try socket.entry()?["MESSAGE"])
            #expect(long.count < 1 << 16 && long.count > 65_000 && String(validating: long, as: UTF8.self) != nil)
        }
    }

    @Test("What the journal has no room for is counted and told, and nothing waits for it")
    func full() throws {
        try withDirectory { directory in
            let socket = try FakeJournal(at: directory + "/socket")
            let journal = try #require(Journal(at: Path(directory + "/socket")))
            let count = 2000
            for number in 0..<count { journal.send("\(number)", priority: LOG_INFO, container: Path("/a")) }
            var taken = 0
            while try socket.entry(seconds: 0) != nil { taken += 1 }
            #expect(taken > 0 && taken < count)
            journal.send("again", priority: LOG_INFO, container: Path("/a"))
            let told = try #require(try socket.entry()?["MESSAGE"])
            #expect(String(decoding: told, as: UTF8.self) == "\(count - taken) messages were lost")
            #expect(try socket.entry()?["MESSAGE"] == Array("again".utf8))
        }
    }

    @Test("A socket that nothing listens on any more is no journal")
    func stale() throws {
        try withDirectory { directory in
            _ = try FakeJournal(at: directory + "/socket")
            #expect(access(directory + "/socket", F_OK) == 0 && Journal(at: Path(directory + "/socket")) == nil)
        }
    }

    @Test("Lines of a file and entries of journalctl are read alike")
    func lines() throws {
        let line = LogLine(time: Timestamp(nanoseconds: 1_764_000_000_000_000_000), level: "notice", message: "a b: c")
        #expect(LogLine(line.text) == line && LogLine("a b") == nil && LogLine("") == nil)
        func entry(_ text: String) -> LogLine? { Array(text.utf8).withUnsafeBytes { JournalTool.entry($0) } }
        let printed = #"{"__REALTIME_TIMESTAMP":"1764000000000000","MESSAGE":"a b: c","PRIORITY":"5","_PID":"1"}"#
        #expect(entry(printed) == line)
        #expect(entry(printed.replacing(#""a b: c""#, with: "[97,32,98,58,32,99]")) == line)
        #expect(entry("{}") == nil && entry("no") == nil)
    }
}
