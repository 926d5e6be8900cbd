// What becomes of those who do not answer, and of opens that wait and get a signal: by the daemon's own clock.

import Foundation
import Support
import Testing

extension TestContainer {
    /// A command of its own process holds a claim on a file until something is written into `../go-FILE`; its process
    /// id is in `../pid-FILE`, what it says in `../notes-FILE`.
    func hold(_ file: String) throws {
        try shell(
            """
            mkfifo ../ready-\(file) ../go-\(file)
            setsid \(Workplace.control) coordinate write \(file) -- \
            sh -c 'echo > ../ready-\(file); read x < ../go-\(file)' \
              < /dev/null > /dev/null 2> ../notes-\(file) &
            echo $! > ../pid-\(file)
            read x < ../ready-\(file)
            """, in: path)
    }
}

@Suite("Those who do not answer") struct SilenceTests {
    /// What waits in vain goes on after ten seconds. The machine may be slow; the arbiter is not.
    private static let deadline: ClosedRange<Double> = 8...(Workplace.isFull ? 12 : 30)

    @Test(
        """
        whoever waits for a silent presenter, or for a holder that is stopped, goes on after ten seconds, and they are \
        told
        """)
    func deadlines() throws {
        try withContainer(files: ["a": "1", "b": "1", "c": "1"]) { container in
            let silent = try PresentingClient(of: container, answers: false)
            defer { silent.close() }
            try silent.present("a")
            try silent.call("claim", ["accesses": [["mode": "writing", "path": "c"]]])
            try container.hold("b")
            try shell("kill -STOP $(cat ../pid-b)", in: container.path)
            // Its end; a stopped one would not hear of anything else.
            defer { _ = try? shell("kill -KILL $(cat ../pid-b); echo > ../go-b", in: container.path) }
            try shell(
                """
                for file in a b c; do
                  (begin=$(date +%s%N)
                  \(Workplace.control) coordinate read $file -- true 2> ../waited-$file
                  echo $(( ($(date +%s%N) - begin) / 1000000 )) > ../time-$file) &
                done
                wait
                """, in: container.path)
            var problems: [String] = []
            for (file, culprit) in [("a", getpid()), ("b", try number(container, "pid-b")), ("c", getpid())] {
                let waited = Double(try number(container, "time-\(file)")) / 1000
                if !Self.deadline.contains(waited) { problems.append("of \(file) a reader waited for \(waited) s") }
                let note = container.text(of: "../waited-\(file)") ?? ""
                if !note.contains("(\(culprit))") { problems.append("of \(file) a reader was told: \(note)") }
            }
            try silent.wait(for: "a: presenterRevoked")
            try silent.wait(for: ": claimRevoked")
            let presenters = try container.must("presenters").text
            if !presenters.contains("silent") { problems.append("presenters: \(presenters)") }
            let claims: [ClaimListing] = try container.decode(["claims"])
            if !claims.isEmpty { problems.append("left: \(claims)") }
            // It is known to be silent: nobody waits for it again.
            let clock = ContinuousClock()
            let again = try clock.measure { try container.must("coordinate", "read", "a", "--", "true") }
            if again > .seconds(Workplace.isFull ? 2 : 7) { problems.append("the next reader waited for \(again)") }
            // When it runs again, the stopped one hears what has become of its claim.
            try shell(
                "kill -CONT $(cat ../pid-b); until grep -q 'claim was revoked' ../notes-b; do :; done",
                in: container.path)
            return problems
        }
    }

    private func number(_ container: TestContainer, _ file: String) throws -> Int32 {
        let text = container.text(of: "../\(file)")?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        guard let number = Int32(text) else { throw Failure("\(file) has \(text)") }
        return number
    }
}

@Suite("Opens that wait and get a signal") struct InterruptedOpenTests {
    private static let opener = """
        import os, signal
        signal.signal(signal.SIGUSR1, lambda *_: None)
        open("../opening", "w").close()
        file = os.open("a", os.O_WRONLY | os.O_TRUNC)
        os.write(file, b"new")
        os.close(file)
        """

    @Test("after a signal that is handled the open goes on at once; one that kills ends it; neither leaves a claim")
    func signals() throws {
        try withContainer(files: ["a": "old"], settings: ["replace-wait": "60s"]) { container in
            var problems: [String] = []
            try container.hold("a")
            for (signal, status) in [(SIGUSR1, Int32(0)), (SIGKILL, 128 + SIGKILL)] {
                var start = Child.Start("python3", ["-c", Self.opener])
                start.directory = container.path
                let child = try Child(start)
                defer { child.kill() }
                let waits =
                    """
                    until [ -e ../opening ] && grep -q request_wait /proc/\(child.pid)/wchan; do :; done; rm ../opening
                    """
                try shell(waits, in: container.path)
                child.signal(signal)
                // Long before its patience is over.
                let ended = try child.wait(.after(seconds: 20))
                if ended != status { problems.append("after signal \(signal) it ended with \(ended)") }
                if container.text(of: "a") != "new" {
                    problems.append("after signal \(signal): \(container.text(of: "a") ?? "-")")
                }
                let claims: [ClaimListing] = try container.decode(["claims"])
                if claims.count != 1 || claims.first?.waiting != false {
                    problems.append("after signal \(signal): \(claims)")
                }
            }
            try shell(
                "echo > ../go-a; while \(Workplace.control) claims | grep -q write; do :; done", in: container.path)
            return problems
        }
    }
}
