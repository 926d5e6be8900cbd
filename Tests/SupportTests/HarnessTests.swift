// The harness itself, without a daemon: processes, terminals, actors, waiting.

import Foundation
import Support
import Testing

@Suite struct HarnessTests {
    @Test func aProgramGivesStatusAndBothStreams() throws {
        let output = try run("sh", ["-c", "cat; echo bad >&2; exit 3"], input: Array("good\n".utf8))
        #expect(output.status == 3)
        #expect(output.text == "good")
        #expect(output.errors == "bad")
    }

    @Test func aProgramThatOverrunsIsKilled() throws {
        #expect(throws: Failure.self) { try run("sleep", ["60"], seconds: 0.2) }
    }

    @Test func aMebibyteGoesThroughAPipeBothWays() throws {
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        #expect(try run("cat", input: bytes).stdout == bytes)
    }

    @Test(.enabled(if: getuid() == 0, "only root may become another user"))
    func aProgramRunsAsAnotherUser() throws {
        #expect(try run("id", ["-u"], asUser: 65534).text == "65534")
    }

    @Test func aShellInATerminalLeadsASessionWithAControllingTerminal() throws {
        let shell = try Terminal.shell(in: "/")
        #expect(try shell.command("test -t 0 && : < /dev/tty && test $(ps -o sid= -p $$) -eq $$") == 0)
        #expect(try shell.command("false") == 1)
    }

    @Test func anActorIsAStrangerUnderTheNameOfItsProgram() throws {
        let place = try Workplace.fresh("actor")
        defer { try? FileManager.default.removeItem(atPath: place) }
        let actor = try ActorProcess("code", in: place)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(actor.pid)/exe").hasSuffix("/code"))
        let facts = try run("ps", ["-o", "ppid=,sid=,tty=", "-p", "\(actor.pid)"]).text.split(separator: " ")
        #expect(facts.count == 3 && facts[0] == facts[1] && facts[2].hasPrefix("pts/"), "\(facts)")
    }

    @Test func anActorDoesAndTells() throws {
        let place = try Workplace.fresh("actor")
        defer { try? FileManager.default.removeItem(atPath: place) }
        let actor = try ActorProcess(in: place)
        try actor.save("a b%\n\u{fc}", to: "f")
        #expect(try actor.load("f") == "a b%\n\u{fc}")
        #expect(try actor.ask("unlink", "missing") == .failed(ENOENT))
        #expect(try actor.ask("dance") == .failed(EINVAL))
        try actor.must("spawn", "child")
        #expect(try actor.must("to", "child", "load", "f") == ["a b%\n\u{fc}"])
        #expect(try actor.ask("to", "child", "unlink", "missing") == .failed(ENOENT))
    }

    @Test func aBlockedActorIsSeenToBlock() throws {
        let place = try Workplace.fresh("actor")
        defer { try? FileManager.default.removeItem(atPath: place) }
        #expect(mkfifo(place + "/fifo", 0o600) == 0)
        let reader = try ActorProcess(in: place)
        let writer = try ActorProcess(in: place)
        try reader.begin("load", ["fifo"])
        #expect(try !reader.hasAnswer(within: 0.1))
        try writer.save("now", to: "fifo")
        #expect(try reader.finish() == .done(["now"]))
    }

    @Test func aPlainDirectoryServesAsContainer() throws {
        try withContainer(files: ["d/f": "x"], level: .plain) { container in
            container.text(of: "d/f") == "x" ? [] : ["not there"]
        }
    }

    @Test func aScreenFollowsCursorAndErasure() {
        var screen = Screen(rows: 3, columns: 10)
        screen.feed(Array("one\r\ntwo\r\nthree\u{1b}[2;1HTWO\u{1b}[K\u{1b}[3;4H\u{1b}[1K".utf8))
        #expect(screen.text == "one\nTWO\n    e")
        screen.feed(Array("\u{1b}[3;1H\n\u{1b}[1;1H\u{1b}M!".utf8))
        #expect(screen.text == "!\nTWO\n    e")
    }
}

@Suite struct FileSystemImageTests {
    @Test(
        "An image is a file system of its type, and gone afterwards",
        .enabled(if: getuid() == 0, "only root may mount images"), arguments: FileSystemType.allCases)
    func imageIsMounted(_ type: FileSystemType) throws {
        var place = ""
        try withFileSystem(type, megabytes: 320) { path in
            place = path
            #expect(try Mounts.at(path)?.type == type.rawValue)
            // Only those with reflinks clone.
            let clone = try run("sh", ["-c", "echo x > a && cp --reflink=always a b"], in: path)
            #expect((clone.status == 0) == (type != .ext4))
            try withContainer(on: path, files: ["f": "x"], level: .plain) {
                $0.text(of: "f") == "x" ? [] : ["not there"]
            }
        }
        #expect(try Mounts.at(place) == nil)
        #expect(!FileManager.default.fileExists(atPath: place))
    }

    @Test(
        "An image is made beside a container that a user has mounted, and leaves that mounted",
        .enabled(if: getuid() == 0, "only root may mount images"), arguments: FileSystemType.allCases)
    func besideUsersMount(_ type: FileSystemType) throws {
        try withContainer(named: "beside", asUser: 65534, files: ["f": "x"]) { container in
            try withFileSystem(type, megabytes: 320) { path in
                let mount = try Mounts.at(path)
                #expect(mount?.type == type.rawValue)
            }
            let names = try mustRun("ls", [container.path], asUser: 65534).text
            return names == "f" ? [] : ["it shows \(names)"]
        }
    }
}
