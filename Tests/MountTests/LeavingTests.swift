// A daemon that goes on for a while after its mount: who waits for its end, and who is told of it.

import CTestSupport
import Foundation
import Support
import Testing

@Suite struct LeavingTests {
    @Test("After --lazy nobody says that it is mounted: the daemon that still has it is named")
    func lazily() throws {
        try Place.with { place in
            let daemon = try place.serve("c")
            let actor = try ActorProcess("holder", in: place.path)
            try actor.must("cd", place.path + "/c")
            #expect(try place.ctl("unmount", "--lazy", "c").status == 0)
            for (words, status) in [
                (["status", "c"], 1), (["check", "c"], 2), (["config", "--container", "c"], 1), (["mount", "c"], 1),
                (["forget", "c", "--yes"], 1),
            ] as [([String], Int32)] {
                let output = try run(Workplace.control, words, in: place.path)
                expectError(
                    output, "in use by versionsfs (\(daemon.pid))", "not mounted here",
                    "`kill \(daemon.pid)` ends it", status: status)
                #expect(!output.errors.contains(Told.alreadyMounted), "\(output.errors)")
            }
            try actor.must("cd", "/")
            #expect(try daemon.wait(.after(seconds: 30)) == 0)
            #expect(try place.ctl("status", "c").status == 0)
        }
    }

    @Test("What is renamed and removed while a daemon goes on after its mount keeps its history")
    func changedMeanwhile() throws {
        try Place.with { place in
            let daemon = try place.serve("c")
            try shell("for f in a b; do echo 1 > $f; echo 2 > $f; done", in: place.path + "/c")
            let actor = try ActorProcess("holder", in: place.path)
            try actor.must("cd", place.path + "/c")
            #expect(try place.ctl("unmount", "--lazy", "c").status == 0)
            // The end of the daemon is later than the changes by more than it allows for a file's clock (100 ms).
            try shell("mv c/a c/a2; rm c/b; sleep 0.3", in: place.path)
            try actor.must("cd", "/")
            #expect(try daemon.wait(.after(seconds: 30)) == 0)
            try place.mount()
            #expect(try place.ctl("history", "c/a2", "--json").text.components(separatedBy: "\"kind\"").count == 3)
            let deleted = try place.ctl("deleted", "c").text
            #expect(deleted.contains("c/b"), "\(deleted)")
            try place.unmount()
        }
    }

    @Test("A command that is at work on an unmounted container is not taken for a mount")
    func offline() throws {
        try Place.with { place in
            try place.mount()
            try place.unmount()
            var input: [Int32] = [-1, -1]
            var output: [Int32] = [-1, -1]
            guard pipe2(&input, O_CLOEXEC) == 0, pipe2(&output, O_CLOEXEC) == 0 else { throw Failure.call("pipe2") }
            var start = Child.Start(Workplace.daemon, ["--offline", place.path + "/c"])
            start.descriptors = [input[0], output[1], 2]
            let child = try Child(start)
            for end in [input[0], output[1]] { close(end) }
            defer { close(output[0]) }
            let parameters = #"{"program":"t","protocolVersion":1,"version":"1"}"#
            let hello = #"{"id":1,"jsonrpc":"2.0","method":"hello","params":\#(parameters)}"#
            let line = Array((hello + "\n").utf8)
            #expect(write(input[1], line, line.count) == line.count)
            var byte: UInt8 = 0
            #expect(read(output[0], &byte, 1) == 1)
            expectError(
                try place.ctl("mount", "c"), "in use by versionsfs (\(child.pid))",
                "serves a versionsctl command", "try again")
            close(input[1])
            #expect(try child.wait(.after(seconds: 30)) == 0)
            try place.mount()
            try place.unmount()
        }
    }

    @Test(
        "Root unmounts a user's mount, which it may not enter: its daemon is no user of it, and is gone afterwards",
        .enabled(if: geteuid() == 0, "a user's mount for root to take away"))
    func ofUser() throws {
        try Place.with { place in
            let user: UInt32 = 65534
            try shell("chown -R \(user):\(user) c", in: place.path)
            var start = Child.Start(Workplace.daemon, [place.path + "/c", "-f"])
            start.user = user
            for json in [false, true] {
                let daemon = try Child(start)
                let came = try Mounts.wait(.after(seconds: 20), watching: daemon) { all in
                    all.contains { $0.path == place.path + "/c" }
                }
                #expect(try came && run("cat", [place.path + "/c/f"], asUser: user).text == "one")
                let holder = try ActorProcess("holder", in: place.path, asUser: user)
                try holder.must("cd", place.path + "/c")
                let busy = try place.ctl("unmount", "c")
                expectError(busy, "in use by holder (\(holder.pid))")
                #expect(!busy.errors.contains("versionsfs ("), "\(busy.errors)")
                try holder.must("cd", "/")
                let unmounted = try json ? place.ctl("unmount", "c", "--json") : place.ctl("unmount", "c")
                #expect(unmounted.status == 0 && unmounted.errors.isEmpty, "\(unmounted.errors)")
                #expect(daemon.poll() == 0, "the daemon lives on")
                #expect(!json || unmounted.text.contains("\"ended\" : true"), "\(unmounted.text)")
            }
            #expect(try place.ctl("status", "c").status == 0)
        }
    }
}
