// `versionsctl coordinate`: a command under a claim, who waits for it, and what it leaves to whom.

import Support
import Testing

@Suite("Commands under a claim") struct CoordinateTests {
    @Test("the command runs, its exit status is passed on, and what is run under it does not wait for it")
    func statuses() throws {
        try withContainer(files: ["a": "1", "b": "1"]) { container in
            var problems: [String] = []
            func expect(_ status: Int32, _ arguments: [String], _ text: String = "") throws {
                let result = try container.ctl(["coordinate"] + arguments)
                if result.status != status || !(result.text + result.errors).contains(text) {
                    problems.append("\(arguments): \(result.status), \(result.text) \(result.errors)")
                }
            }
            try expect(7, ["write", "a", "--", "sh", "-c", "echo 2 > a; exit 7"])
            try expect(0, ["read", "a", "b", "--", "cat", "a", "b"], "2\n1")
            let tool = Workplace.control
            try expect(0, ["write", "a", "b", "--", "sh", "-c", "\(tool) coordinate write b -- echo nested"], "nested")
            try expect(0, ["write", "a", "--", "sh", "-c", "\(tool) claims --json | grep -c write"], "1")
            try expect(0, ["write", "--for-replacing", "new", "--", "sh", "-c", "echo 1 > new"])
            try expect(127, ["write", "a", "--", "no-such-command"], "no-such-command: cannot be started")
            try expect(126, ["write", "a", "--", "/etc/passwd"])
            try expect(125, ["write", "/etc/passwd", "--", "true"], Told.notInContainer)
            try expect(64, ["write", "a"], Told.noCommand)
            try expect(64, ["read", "--for-deleting", "a", "--", "true"], "unknown option --for-deleting")
            try expect(64, ["write", "--for-deleting", "--for-moving", "a", "--", "true"])
            if try container.ctl(["claims", "--json"]).text.contains("write") { problems.append("a claim is left") }
            return problems
        }
    }

    /// A command that holds a claim on `a` until something is written into `../go`; it is there when this returns.
    private func hold(_ container: TestContainer, then command: String) throws {
        let tool = Workplace.control
        try shell(
            """
            mkfifo ../ready ../go
            setsid \(tool) coordinate write a -- sh -c 'echo > ../ready; read x < ../go; \(command)' \
            < /dev/null > /dev/null 2>&1 &
            read x < ../ready
            """, in: container.path)
    }

    @Test("a reader waits until the writer's command has ended, and reads what it wrote")
    func waiting() throws {
        try withContainer(files: ["a": "old"]) { container in
            try hold(container, then: "echo new > a")
            let tool = Workplace.control
            let seen = try shell(
                """
                \(tool) coordinate read a -- cat a > ../seen 2> ../notes &
                while ! \(tool) claims | grep -q waiting; do :; done
                test ! -s ../seen
                echo > ../go
                wait
                cat ../seen
                """, in: container.path)
            return seen.text == "new" ? [] : ["the reader saw: \(seen.text)"]
        }
    }

    @Test("a plain program that opens the file for writing waits for the claim, but not longer than replace-wait")
    func plainPrograms() throws {
        try withContainer(files: ["a": "old"], settings: ["replace-wait": "500ms"]) { container in
            let stranger = try ActorProcess("stranger", in: container.path)
            try hold(container, then: "true")
            var problems: [String] = []
            let clock = ContinuousClock()
            let waited = try clock.measure { try stranger.save("new", to: "a") }
            if waited < .milliseconds(490) || waited > replaceWaitIsOver {
                problems.append("the open went on after \(waited)")
            }
            // What does not wait takes as long as a machine that others use makes it.
            let atOnce: Duration = Workplace.isFull ? .milliseconds(400) : .seconds(8)
            // Names never wait: the kernel holds their directory.
            let moved = try clock.measure { _ = try stranger.must("rename", "a", "b") }
            if moved > atOnce { problems.append("a rename took \(moved)") }
            try shell("echo > ../go; while \(Workplace.control) claims | grep -q write; do :; done", in: container.path)
            let free = try clock.measure { try stranger.save("newer", to: "b") }
            if free > atOnce { problems.append("without a claim the open took \(free)") }
            return problems
        }
    }

    /// Starts a command that is nobody's child: a program of the presenter's or holder's own lineage waits for neither.
    private func startAlone(_ command: String, _ container: TestContainer) throws {
        let wait = "until [ $(ps -o ppid= $$) = 1 ]; do :; done"
        try shell("(setsid sh -c '\(wait); \(command)' < /dev/null > /dev/null 2>&1 &)", in: container.path)
    }

    @Test("signals end the command, and the claim with it: never the claim alone") func signals() throws {
        try withContainer(files: ["a": "1"]) { container in
            let tool = Workplace.control
            let result = try shell(
                """
                mkfifo ../ready ../go
                env --default-signal=INT,QUIT \(tool) coordinate write a -- \
                    sh -c 'trap "echo told > ../told; exit 3" TERM; exec 3<> ../go; echo > ../ready; read x <&3' &
                read x < ../ready
                kill -INT $!
                kill -TERM $!
                wait $! || echo $?
                cat ../told
                \(tool) claims | grep write || echo free
                """, in: container.path, seconds: 20)
            return result.text == "3\ntold\nfree" ? [] : ["\(result.text) \(result.errors)"]
        }
    }

    @Test("a claim on a directory does not keep from presenters what is done to what is in it") func inDirectory()
        throws
    {
        try withContainer(files: ["d/a": "1"]) { container in
            let tool = Workplace.control
            let client = try PresentingClient(of: container)
            defer { client.close() }
            try client.present("d/a")
            try startAlone("\(tool) coordinate write d -- rm d/a", container)
            try client.wait(for: "d/a: accommodate")
            return []
        }
    }

    @Test("restore takes its turn: it waits for claims as long as an open does, and presenters let the file go")
    func restore() throws {
        try withContainer(files: ["a": "1"], settings: ["replace-wait": "700ms"]) { container in
            try shell("echo 2 > a", in: container.path)
            guard let first = try container.history(of: "a").versions.last else { return ["no version"] }
            let tool = Workplace.control
            let client = try PresentingClient(of: container)
            defer { client.close() }
            try client.present("a")
            try client.claim("writing", ["a"]) {
                try startAlone("\(tool) restore a --version \(first.id)", container)
                try client.wait(for: ": claimDisturbed a changed")
            }
            try client.wait(for: "a: saved a item at a")
            try shell("echo 3 > a", in: container.path)
            client.forget()
            try startAlone("\(tool) restore a --version \(first.id)", container)
            try client.wait(for: "a: relinquish to writer")
            try client.wait(for: "a: reacquire")
            return []
        }
    }

    @Test("who holds a claim is told when a program that does not wait moves or deletes the file") func disturbances()
        throws
    {
        try withContainer(files: ["a": "1"]) { container in
            let stranger = try ActorProcess("stranger", in: container.path)
            let tool = Workplace.control
            try shell(
                """
                mkfifo ../ready ../go
                setsid \(tool) coordinate write a -- sh -c 'echo > ../ready; read x < ../go' \
                < /dev/null > /dev/null 2> ../notes &
                read x < ../ready
                """, in: container.path)
            _ = try stranger.must("rename", "a", "b")
            _ = try stranger.must("unlink", "b")
            let notes = try shell(
                "until grep -q 'has deleted b' ../notes; do :; done; echo > ../go; cat ../notes", in: container.path,
                seconds: 20)
            return notes.text.contains("A program that does not wait for claims has moved a.") ? [] : [notes.text]
        }
    }
}
