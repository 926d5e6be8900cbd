// One client cannot hold up the others: the requests of a user are served in turn with those of others.

import CTestSupport
import Foundation
import Support
import Testing

@Suite struct FloodTests {
    /// Bob keeps 480 of the dearest calls waiting; alice asks five times. Prints how many of bob's calls were answered
    /// between each of her questions and its answer.
    private static let flood = """
        import json, os, selectors, socket, sys
        place, alice, bob = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
        def connect(user):
            os.seteuid(user)
            s = socket.socket(socket.AF_UNIX); s.connect(place)
            os.seteuid(0)
            s.setblocking(False)
            return s
        def line(number, method, **target):
            call = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"target": target}}
            return json.dumps(call).encode() + b"\\n"
        calls = [("history", {"id": "abcdef"}), ("deleted", {"path": ""}), ("show", {"id": "012345"}),
                 ("space", {"path": "sub"}), ("conflicts", {"path": ""}), ("history", {"id": "fedcba"})]
        selector, answered, replies, made = selectors.DefaultSelector(), 0, 0, 0
        class Client:
            def __init__(self, user): self.socket, self.rest, self.sent = connect(user), b"", b""
            def send(self, data):
                self.sent += data
                self.push()
            def push(self):
                try: self.sent = self.sent[self.socket.send(self.sent):]
                except BlockingIOError: pass
            def lines(self):
                data = self.socket.recv(1 << 20)
                if not data: raise SystemExit("cut off")
                self.rest += data
                done, _, self.rest = self.rest.rpartition(b"\\n")
                return done.split(b"\\n") if done else []
        def more(client):
            global made
            made += 1
            method, target = calls[made % len(calls)]
            client.send(line(made, method, **target))
        her = Client(alice)
        selector.register(her.socket, selectors.EVENT_READ, her)
        bobs = [Client(bob) for _ in range(30)]
        for client in bobs:
            selector.register(client.socket, selectors.EVENT_READ, client)
            for _ in range(16): more(client)
        counts = []
        def turn():
            global answered
            heard = False
            for key, _ in selector.select(60) or sys.exit("nobody is answered"):
                client = key.data
                for _ in client.lines():
                    if client is her: heard = True
                    else:
                        answered += 1
                        more(client)
            for client in bobs: client.sent and client.push()
            return heard
        while answered < 60: turn()
        for _ in range(5):
            before = answered
            her.send(line(0, "history", path="sub/f1"))
            while not turn(): pass
            counts.append(answered - before)
        print(*counts)
        """

    @Test("A user is answered while another keeps hundreds of the dearest calls waiting")
    func flood() throws {
        try withContainer(named: "flood") { container in
            try shell(
                """
                mkdir sub; chmod 755 sub
                for n in $(seq 300); do echo 1 > sub/f$n; echo 2 > sub/f$n; echo x > sub/g$n; done; rm sub/g*
                """, in: container.path)
            let socket = try mustRun("readlink", [container.file(".versions/.socket")]).text
            let output = try mustRun("/usr/bin/python3", ["-B", "-c", Self.flood, socket, "5", "65534"], seconds: 100)
            let counts = output.text.split(separator: " ").compactMap { Int($0) }
            // In the order in which they came, she would wait for all 480 each time.
            return counts.count == 5 && counts.allSatisfy { $0 < 240 } ? [] : ["she waited for \(output.text) calls"]
        }
    }
}
