// Plain programs beside claims: they are waited for while they write, wait only once, and are told of.

import Support
import Testing

@Suite("Plain programs and claims") struct PlainProgramTests {
    /// Has somebody else hold a claim until something is written into `../go`; it is there when this returns. What it
    /// is told goes to `../notes`.
    private func hold(_ container: TestContainer, _ claim: String) throws {
        try shell(
            """
            mkfifo ../ready ../go
            setsid \(Workplace.control) coordinate write \(claim) -- \
                sh -c 'echo > ../ready; read x < ../go' < /dev/null > /dev/null 2> ../notes &
            read x < ../ready
            """, in: container.path)
    }

    /// Has a program open `a` and, after a while, write to it every 10 ms; it writes when this returns.
    private func write(_ container: TestContainer, mode: String, seconds: Double) throws {
        let program = """
            import os, time
            f = open("a", "\(mode)")
            time.sleep(0.5)
            end = time.monotonic() + \(seconds)
            open("../state", "w").write("writing")
            f.write("x"), f.flush(), open("../writes", "w").write("x")
            while time.monotonic() < end:
                time.sleep(0.01), f.write("x"), f.flush()
            open("../state", "w").write("done")
            """
        try mustRun("tee", ["../writer.py"], in: container.path, input: Array(program.utf8))
        try shell(
            """
            mkfifo ../writes
            setsid python3 ../writer.py < /dev/null > ../writer.log 2>&1 &
            read -N 1 x < ../writes
            """, in: container.path)
    }

    @Test("a claim waits for a program that has had the file open for long and writes to it now")
    func writers() throws {
        try withContainer(files: ["a": "old", "b": "1"]) { container in
            try hold(container, "b")
            try write(container, mode: "r+", seconds: 1.5)
            let seen = try shell(
                "\(Workplace.control) coordinate write a -- cat ../state; echo > ../go", in: container.path)
            return seen.text == "done" ? [] : ["when the claim was granted the program was \(seen.text)"]
        }
    }

    @Test("a program that writes to a file is listed while a claim waits for it, once, and not before")
    func listed() throws {
        try withContainer(files: ["a": "old", "b": "1"]) { container in
            try hold(container, "b")
            try write(container, mode: "w", seconds: 4)
            try shell(
                """
                setsid \(Workplace.control) coordinate write a -- true < /dev/null > /dev/null 2>&1 &
                echo $! > ../waiter
                """, in: container.path)
            var claims: [ClaimListing] = []
            let patience = Deadline.after(seconds: 15)
            repeat {
                claims = try container.decode(["claims"])
            } while !claims.contains { $0.waiting } && !patience.isOver
            let found = claims.map { "\($0.program.prefix(6)) \($0.paths.joined()) \($0.waiting)" }.sorted()
            try shell(
                """
                echo > ../go
                until [ "$(cat ../state)" = done ]; do :; done
                while kill -0 $(cat ../waiter) 2> /dev/null; do :; done
                """, in: container.path, seconds: 20)
            let expected = ["python a false", "versio a true", "versio b false"]
            return found == expected ? [] : ["listed: \(claims)"]
        }
    }

    @Test("an open that has waited for a claim does not wait as long again for a program that replaces the file")
    func waitsOnce() throws {
        try withContainer(files: ["a": "old"], settings: ["replace-wait": "1500ms"]) { container in
            let stranger = try ActorProcess("stranger", in: container.path)
            try hold(container, "a")
            // It waits, too, then writes for long.
            try write(container, mode: "w", seconds: 5)
            let clock = ContinuousClock()
            let waited = try clock.measure { try stranger.save("new", to: "a") }
            try shell("echo > ../go", in: container.path)
            return waited > .milliseconds(1490) && waited < .milliseconds(2800) ? [] : ["it waited \(waited)"]
        }
    }

    @Test("who has claimed a free name is told when something gets it, whatever and however", .timeLimit(.minutes(2)))
    func names() throws {
        try withContainer(files: ["a": "1", "b": "1"]) { container in
            let stranger = try ActorProcess("stranger", in: container.path)
            try hold(container, "--for-replacing free")
            let ways = [["rename", "a", "free"], ["link", "b", "free"], ["symlink", "b", "free"], ["mkdir", "free"]]
            for (index, way) in ways.enumerated() {
                _ = try stranger.must(way[0], way[1], way.count > 2 ? way[2] : "755")
                try shell(
                    "until [ $(grep -c 'changed free' ../notes) -gt \(index) ]; do :; done", in: container.path,
                    seconds: 20)
                _ = try stranger.must(way[0] == "mkdir" ? "rmdir" : "unlink", "free")
            }
            try shell("echo > ../go", in: container.path)
            return []
        }
    }

    @Test("who deletes a directory under a claim is told what is put into it") func directories() throws {
        try withContainer(files: ["d/a": "1", "b": "1"]) { container in
            let stranger = try ActorProcess("stranger", in: container.path)
            try hold(container, "--for-deleting d")
            _ = try stranger.must("mkdir", "d/n", "755")
            _ = try stranger.must("rename", "b", "d/b")
            try shell(
                "until grep -q 'changed d/n' ../notes && grep -q 'changed d/b' ../notes; do :; done; echo > ../go",
                in: container.path, seconds: 20)
            return []
        }
    }

    @Test("presenters go along with directories that are exchanged, both of them") func exchanged() throws {
        try withContainer(files: ["A/x": "1", "B/x": "1", "B/sub/y": "1"]) { container in
            let client = try PresentingClient(of: container)
            defer { client.close() }
            try client.present("A/x")
            try client.present("B/sub")
            let stranger = try ActorProcess("stranger", in: container.path)
            _ = try stranger.must("exchange", "A", "B")
            try shell("echo 2 > A/sub/y; echo 2 > A/x; echo 2 > B/x", in: container.path)
            try client.wait(for: "B/sub: saved A/sub/y inDirectory at A/sub")
            let told = try client.wait(for: "A/x: saved B/x item at B/x")
            return told.contains { $0.hasPrefix("A/x: saved A/x") } ? ["it was told: \(told)"] : []
        }
    }
}
