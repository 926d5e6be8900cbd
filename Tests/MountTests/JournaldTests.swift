// The daemon's log in a real journald, with a /run and a /var/log of its own.

import Foundation
import Support
import Testing

@Suite("The log in journald", .timeLimit(.minutes(5))) struct JournaldTests {
    /// Starts journald, says its process id when it is ready, and leaves it running.
    private static let start = """
        import os, socket, subprocess
        ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        ready.settimeout(60)
        ready.bind("/run/ready")
        with open("/run/journald.out", "w") as output:
            journald = subprocess.Popen(
                ["/usr/lib/systemd/systemd-journald"], env={**os.environ, "NOTIFY_SOCKET": "/run/ready"},
                stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        while b"READY=1" not in ready.recv(4096): pass
        print(journald.pid)
        """

    @Test("logs and journalctl show the daemon's lines, each container its own")
    func real() throws {
        try Place.with { place in
            try Self.start.write(toFile: place.path + "/start.py", atomically: false, encoding: .utf8)
            // The kernel's messages and its audit stay as they are.
            let script = #"""
                set -e
                mount -t tmpfs none /run
                mount -t tmpfs none /var/log
                mkdir -p /run/systemd/journald.conf.d /var/log/journal other
                printf '[Journal]\nStorage=persistent\nAudit=no\nReadKMsg=no\n' > /run/systemd/journald.conf.d/own.conf
                journald=$(python3 start.py)
                trap 'kill $journald; tail --pid=$journald -f /dev/null' EXIT
                "$CTL" mount c > /dev/null
                "$CTL" status c | grep '^log '
                "$CTL" mount other > /dev/null
                "$CTL" unmount other
                "$CTL" unmount c
                journalctl --sync
                echo "== logs"
                "$CTL" logs c
                echo "== json"
                "$CTL" logs c --json | grep -c '"level" : "notice"'
                echo "== journalctl"
                journalctl -q -t versionsfs -o cat
                """#
            try script.write(toFile: place.path + "/script", atomically: false, encoding: .utf8)
            let output = try place.bash(
                "unset VERSIONSFS_JOURNAL; exec unshare -m --propagation private bash ./script")
            try #require(output.status == 0, "\(output.errors)")
            let parts = output.text.components(separatedBy: "== ")
            #expect(parts.first?.split(separator: " ").last == "journal\n", "\(parts.first ?? "")")
            let (c, other) = ("container=\(place.path)/c", "container=\(place.path)/other")
            for (part, ours, others) in [("logs", 2, 0), ("journalctl", 2, 2)] {
                let lines = parts.first { $0.hasPrefix(part + "\n") }?.split(separator: "\n").dropFirst() ?? []
                let counts = [c, other].map { name in lines.count { $0.contains(name) } }
                #expect(counts == [ours, others] && lines.count == ours + others, "\(part): \(lines)")
                #expect(lines.contains { $0.contains("unmounted \(c)") }, "\(part): \(lines)")
            }
            #expect(parts.contains("json\n2\n"), "\(output.text)")
        }
    }
}
