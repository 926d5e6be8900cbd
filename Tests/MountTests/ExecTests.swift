// Programs that become another one while they have files open that this one is not to have: execve(2) closes them, and
// the kernel shows nobody who that is until they are closed.

import Foundation
import Support
import Testing

@Suite struct ExecTests {
    /// What a program does that has written to `f`, and has it open still.
    private static let ways = [
        "os.execv('/bin/true', ['true'])",
        "p = os.posix_spawn('/bin/true', ['true'], {}); os.waitpid(p, 0)",
        "if os.fork() == 0: os.execv('/bin/true', ['true'])\nos.wait()",
    ]

    @Test(
        "a program with a changed file becomes another one, or starts one: it is saved, and nobody waits",
        arguments: ways)
    func changed(_ way: String) throws {
        try withContainer(named: "exec", files: ["f": "old"], seconds: 30) { container in
            let program = "import os\nf = os.open('f', os.O_WRONLY | os.O_TRUNC)\nos.write(f, b'new')\n" + way
            try mustRun("python3", ["-c", program], in: container.path, seconds: 15)
            guard container.isVersioned else { return [] }
            let versions = try container.history(of: "f").versions
            let found = versions.map { "\(($0.program ?? "").prefix(6)) \($0.size)" }
            return found == ["python 3", " 3"] ? [] : ["the history is \(found)"]
        }
    }

    @Test("a killed daemon comes back beside a program whose exec waits for another daemon")
    func restarted() throws {
        try withContainer(named: "stopped", seconds: 60) { stopped in
            try withContainer(named: "killed", files: ["f": "1"], seconds: 60) { killed in
                guard killed.isVersioned, let daemon = stopped.daemon else { return [] }
                try killed.kill()
                let program = """
                    import os, sys
                    f = os.open('f', os.O_WRONLY | os.O_CREAT)
                    os.write(f, b'new')
                    print('ready', flush=True)
                    sys.stdin.read(1)
                    os.execv('/bin/true', ['true'])
                    """
                var start = Child.Start("python3", ["-c", program])
                start.directory = stopped.path
                let (input, go) = try makePipe()
                let (ready, output) = try makePipe()
                defer { for end in [input, go, ready, output] { close(end) } }
                start.descriptors = [input, output, 2]
                let child = try Child(start)
                _ = try readSome(from: ready)
                daemon.signal(SIGSTOP)
                defer { daemon.signal(SIGCONT) }
                // The signal is on its way: until it has come the daemon answers.
                try shell("until grep -q '^State:.T' /proc/\(daemon.pid)/status; do :; done", in: "/")
                try writeAll([10], to: go)
                // Its memory is the new program's, and there is nothing in it yet.
                try shell("until grep -q '^[1-9][0-9]* [0-9]* [0-9]* 0 ' /proc/\(child.pid)/statm; do :; done", in: "/")
                try killed.mount()
                daemon.signal(SIGCONT)
                try child.wait(.after(seconds: 20))
                return []
            }
            return []
        }
    }
}
