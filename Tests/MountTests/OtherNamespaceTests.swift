// A mount that another mount namespace holds, as sandboxes and containers do: it cannot be unmounted by its name there,
// and its daemon must be able to end all the same.

import CTestSupport
import Foundation
import Support
import Testing

@Suite struct OtherNamespaceTests {
    /// A program that holds something and says so with a line; it is to wait for its input, with which it ends.
    private func withHolder(
        _ words: [String], asUser user: UInt32? = nil, hasNamespace: Bool = false, _ body: (Child) throws -> Void
    ) throws {
        var input: [Int32] = [-1, -1]
        var output: [Int32] = [-1, -1]
        guard pipe2(&input, O_CLOEXEC) == 0, pipe2(&output, O_CLOEXEC) == 0 else { throw Failure.call("pipe2") }
        var start = Child.Start(words.first ?? "", Array(words.dropFirst()))
        start.user = user
        start.descriptors = [input[0], output[1], 2]
        var byte: UInt8 = 0
        func begin() throws -> (Child, hasBegun: Bool) {
            let child = try Child(start)
            for end in [input[0], output[1]] { close(end) }
            return (child, read(output[0], &byte, 1) == 1)
        }
        let (child, hasBegun) = try hasNamespace ? MountNamespaces.making(begin) : begin()
        defer {
            close(output[0])
            close(input[1])
            _ = try? child.wait(.after(seconds: 10))
        }
        guard hasBegun else { throw Failure("\(words) did not begin") }
        try body(child)
    }

    @Test(
        "unmount says at once who keeps the mount elsewhere, and a signal ends the daemon all the same",
        .enabled(if: getuid() == 0, "making a mount namespace needs root"))
    func held() throws {
        try Place.with { place in
            let daemon = try place.serve("c")
            let script = MountNamespaces.unmountingOthers(but: place.path) + "\necho there; read line || :"
            try withHolder(["unshare", "-m", "sh", "-c", script], hasNamespace: true) { holder in
                let begun = ContinuousClock.now
                let output = try place.ctl("unmount", "c", "--json")
                #expect(ContinuousClock.now - begun < .seconds(10), "it waited for a daemon that goes on")
                #expect(output.status == 0, "\(output.errors)")
                #expect(output.text.contains("\"ended\" : false"), "\(output.text)")
                #expect(
                    output.errors.contains("(\(holder.pid))") && output.errors.contains("kill \(daemon.pid)"),
                    "\(output.errors)")
                #expect(daemon.isRunning)
                daemon.signal(SIGTERM)
                #expect(try daemon.wait(.after(seconds: 25)) == 0)
                // The container is free, while the namespace still stands.
                #expect(holder.isRunning)
                try place.mount()
                #expect((try? String(contentsOfFile: place.path + "/c/f", encoding: .utf8)) == "one\n")
                try place.unmount()
            }
        }
    }

    @Test("A signal detaches the mount at once, and cuts off who still uses it 10 s later")
    func used() throws {
        try Place.with { place in
            let daemon = try place.serve("c")
            let file = open(place.path + "/c/f", O_RDWR | O_CLOEXEC)
            #expect(file >= 0)
            defer { close(file) }
            daemon.signal(SIGTERM)
            _ = try Mounts.wait(.after(seconds: 9), watching: daemon) { all in
                !all.contains { $0.path == place.path + "/c" }
            }
            // Somebody else's file system in the same place is not taken for ours.
            try mustRun("mount", ["-t", "tmpfs", "none", place.path + "/c"])
            #expect(try daemon.wait(.after(seconds: 25)) == 0)
            #expect(try Mounts.at(place.path + "/c")?.type == "tmpfs")
            #expect(fchmod(file, 0o600) != 0)
            try mustRun("umount", [place.path + "/c"])
            try place.mount()
            try place.unmount()
        }
    }

    @Test("A user's daemon ends as well, though it may have no way to cut anybody off")
    func ofUser() throws {
        try Place.with { place in
            let user: UInt32 = 65534
            try mustRun("chown", ["-R", "\(user)", place.path + "/c"])
            var start = Child.Start(Workplace.daemon, [place.path + "/c", "-f"])
            start.user = user
            let daemon = try Child(start)
            let came = try Mounts.wait(.after(seconds: 20), watching: daemon) { all in
                all.contains { $0.path == place.path + "/c" }
            }
            #expect(came)
            try withHolder(["sh", "-c", "exec 3< \(place.path)/c/f; echo there; read line || :"], asUser: user) { _ in
                daemon.signal(SIGTERM)
                let status = try daemon.wait(.after(seconds: 25))
                #expect([0, 1].contains(status), "\(status)")
                #expect(try Mounts.at(place.path + "/c") == nil)
                // It recovers from that as from a kill.
                let next = try Child(start)
                let again = try Mounts.wait(.after(seconds: 20), watching: next) { all in
                    all.contains { $0.path == place.path + "/c" }
                }
                #expect(again)
                #expect(try mustRun("cat", [place.path + "/c/f"], asUser: user).text == "one")
                next.signal(SIGTERM)
                #expect(try next.wait(.after(seconds: 30)) == 0)
            }
        }
    }
}
