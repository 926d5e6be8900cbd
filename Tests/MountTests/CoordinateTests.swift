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
            try expect(125, ["write", "/etc/passwd", "--", "true"], "not in a container")
            try expect(64, ["write", "a"], "no command")
            try expect(64, ["read", "--for-deleting", "a", "--", "true"], "options come before the files")
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
            setsid \(tool) coordinate write a -- sh -c 'echo > ../ready; read x < ../go; \(command)' < /dev/null > /dev/null 2>&1 &
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

    @Test("who holds a claim is told when a program that does not wait moves or deletes the file") func disturbances() throws {
        try withContainer(files: ["a": "1"]) { container in
            let stranger = try ActorProcess("stranger", in: container.path)
            let tool = Workplace.control
            try shell(
                """
                mkfifo ../ready ../go
                setsid \(tool) coordinate write a -- sh -c 'echo > ../ready; read x < ../go' < /dev/null > /dev/null 2> ../notes &
                read x < ../ready
                """, in: container.path)
            _ = try stranger.must("rename", "a", "b")
            _ = try stranger.must("unlink", "b")
            let notes = try shell(
                "until grep -q 'b was deleted' ../notes; do :; done; echo > ../go; cat ../notes", in: container.path, seconds: 20)
            return notes.text.contains("a was moved by a program that does not wait for claims") ? [] : [notes.text]
        }
    }
}
