// Plain programs at files that somebody presents: a presenter by hand, over the control socket, on a real mount.

import Support
import Testing

/// How long an open with a `replace-wait` under a second may take: in any case less than the ten seconds after which
/// the arbiter itself gives up a presenter or a holder, or nobody could tell which of the two has ended the wait.
let replaceWaitIsOver: Duration = .seconds(Workplace.isFull ? 3 : 9)

@Suite("Presented files") struct PresentedFileTests {
    /// Presents `a`, tells by `../ready` that it does, and saves as it is told: by renaming, not at all, or it says no.
    private static let presenter = """
        import json, os, socket, sys
        how = sys.argv[1]
        s = socket.socket(socket.AF_UNIX)
        s.connect(os.readlink(".versions/.socket"))
        root = os.getcwd()
        os.chdir("..")  # Nobody keeps the mount busy; it ends with the connection.
        lines = s.makefile("r")
        def send(message):
            s.sendall((json.dumps({"jsonrpc": "2.0", **message}) + "\\n").encode())
        send({"id": 1, "method": "present", "params": {"path": {"path": "a"}}})
        for line in lines:
            message = json.loads(line)
            if message.get("id") == 1 and "result" in message:
                open("ready", "w").write("x")
            elif message.get("method") == "save" and how == "refuse":
                send({"id": message["id"], "error": {"code": -32603, "message": "no"}})
            elif "id" in message and "method" in message and how != "silent":
                if message["method"] == "save" and how == "rename":
                    open(root + "/a.new", "w").write("saved by its presenter")
                    os.rename(root + "/a.new", root + "/a")
                send({"id": message["id"], "result": {}})
            elif message.get("method") == "reacquire":
                open("reacquired", "a").write("x")
        """

    private func present(_ container: TestContainer, _ how: String) throws {
        try mustRun("tee", ["../presenter.py"], in: container.path, input: Array(Self.presenter.utf8))
        try shell(
            """
            mkfifo ../ready
            setsid python3 ../presenter.py \(how) < /dev/null > ../presenter.log 2>&1 &
            echo $! > ../presenter.pid
            read -N 1 x < ../ready
            """, in: container.path)
    }

    @Test("with plain-reads = wait a reader gets what the presenter saves first, also if that makes a new file")
    func readersWait() throws {
        try withContainer(files: ["a": "old"], settings: ["plain-reads": "wait"]) { container in
            let reader = try ActorProcess("reader", in: container.path)
            try present(container, "rename")
            let read = try reader.load("a")
            return read == "saved by its presenter" ? [] : ["it read: \(read)"]
        }
    }

    @Test("a presenter that cannot save does not keep a reader from reading")
    func refusal() throws {
        try withContainer(files: ["a": "old"], settings: ["plain-reads": "wait"]) { container in
            let reader = try ActorProcess("reader", in: container.path)
            try present(container, "refuse")
            let read = try reader.load("a")
            return read == "old" ? [] : ["it read: \(read)"]
        }
    }

    @Test(
        """
        an open for writing has the presenter relinquish, and it has its file back after the close; \
        a silent one is passed
        """)
    func writersAsk() throws {
        try withContainer(files: ["a": "old"], settings: ["replace-wait": "500ms"]) { container in
            var problems: [String] = []
            let writer = try ActorProcess("writer", in: container.path)
            try present(container, "silent")
            let clock = ContinuousClock()
            let waited = try clock.measure { try writer.save("new", to: "a") }
            if waited < .milliseconds(490) { problems.append("a silent presenter was waited for only \(waited)") }
            if waited > replaceWaitIsOver { problems.append("a silent presenter was waited for \(waited)") }
            try shell("while [ ! -e ../reacquired ]; do :; done", in: container.path, seconds: 20)
            return problems
        }
    }

    @Test("a stopped presenter delays an open for writing by replace-wait and no more, a rename or unlink not at all")
    func stopped() throws {
        try withContainer(files: ["a": "old"], settings: ["replace-wait": "700ms"]) { container in
            var problems: [String] = []
            let writer = try ActorProcess("writer", in: container.path)
            try present(container, "rename")
            try shell("kill -STOP $(cat ../presenter.pid)", in: container.path)
            defer { _ = try? shell("kill -KILL $(cat ../presenter.pid)", in: container.path) }
            let clock = ContinuousClock()
            let waited = try clock.measure { try writer.save("new", to: "a") }
            if waited < .milliseconds(690) { problems.append("it was waited for only \(waited)") }
            if waited > replaceWaitIsOver { problems.append("it was waited for \(waited)") }
            // Other than the open these take no longer than they would without it: as long as a machine that others
            // use makes them wait, and less than an open does.
            let took = try clock.measure {
                _ = try writer.must("rename", "a", "b")
                _ = try writer.must("unlink", "b")
            }
            if took > .milliseconds(690), Workplace.isFull { problems.append("rename and unlink took \(took)") }
            if took > .seconds(10) { problems.append("rename and unlink took \(took)") }
            return problems
        }
    }
}
