// Lists on a terminal: what fits stays on the screen, what does not goes through the pager, and leaving it is no error.

import Foundation
import Support
import Testing

@Suite("The pager", .timeLimit(.minutes(5)))
struct PagerTests {
    /// A file with many versions, a file with few, and deleted files.
    private func withLists(_ body: (TestContainer) throws -> [String]) throws {
        try withContainer(named: "pager", files: ["short": "1\n"]) { container in
            guard container.isVersioned else { return [] }
            try shell(
                """
                for i in $(seq 60); do echo $i > long; sync long; done
                for i in 1 2; do seq ${i}0001 ${i}9000 > lines; sync lines; done
                mkdir gone; for i in $(seq 100); do echo $i > gone/f$i; done; rm gone/*; echo 2 > short
                """, in: container.path)
            return try body(container)
        }
    }

    private func terminal(
        _ container: TestContainer, _ line: String, _ environment: [String: String]
    ) throws -> Terminal {
        try Terminal(
            "bash", ["-c", "\(Workplace.control) \(line); echo \"sta\"\"tus $?.\""], in: container.path,
            environment: environment)
    }

    /// A pager that notes what it reads, and its settings.
    private func recorder(_ container: TestContainer) throws -> String {
        let path = container.path + "/../recorder"
        try writeProgram(
            path, "#!/bin/sh\nread first\necho \"LESS=$LESS\" > ../read\n{ echo \"$first\"; cat; } >> ../read\n")
        return path
    }

    @Test("Lists, diff and blame go through PAGER, with colors; not with --no-pager and --json")
    func commands() throws {
        try withLists { container in
            let recorder = try recorder(container)
            var problems: [String] = []
            try mustRun(Workplace.control, ["simulate", "conflict", container.path + "/long"])
            for line in ["deleted", "log", "history long", "query", "diff short", "blame lines", "conflicts"] {
                for (extra, isPaged) in [("", true), (" --no-pager", false), (" --json", false)] {
                    try? FileManager.default.removeItem(atPath: container.path + "/../read")
                    let terminal = try terminal(container, line + extra, ["PAGER": recorder, "NO_COLOR": ""])
                    try terminal.wait(for: "status 0.")
                    let read = container.text(of: "../read")
                    if (read != nil) != isPaged {
                        problems.append("\(line)\(extra): \(read?.prefix(200) ?? "not paged")")
                    }
                    guard isPaged, let read else { continue }
                    if !read.hasPrefix("LESS=FRX\n") || !read.contains("\u{1B}[") || read.count < 50 {
                        problems.append("\(line): the pager read \(read.prefix(300).debugDescription)")
                    }
                }
            }
            return problems
        }
    }

    @Test("less keeps what fits on the screen, and shows the beginning of what does not, until q")
    func screens() throws {
        try withLists { container in
            let short = try terminal(container, "history short", ["PAGER": "less"])
            try short.wait(for: "status 0.")
            var problems = short.screen.text.contains("current") ? [] : ["short: \(short.screen.text)"]
            for line in ["history long", "log --all", "deleted --all", "blame lines"] {
                let long = try terminal(container, "\(line)", ["PAGER": "less"])
                try long.wait("the pager to show a page") { $0.screen.text.hasSuffix("\n:") }
                if long.screen.text.contains("status") { problems.append("\(line) is not paged") }
                try long.type("q")
                try long.wait(for: "status 0.")
                if long.screen.text.contains("error") { problems.append("\(line): \(long.screen.text)") }
            }
            return problems
        }
    }

    @Test("Without PAGER it is less; a dumb terminal, a missing less and a missing pager get the lines themselves")
    func choice() throws {
        try withLists { container in
            var problems: [String] = []
            for (environment, isPaged) in [
                ("env -u PAGER", true), ("env -u PAGER TERM=dumb", false), ("env PAGER=", false),
                ("env PAGER=cat", false), ("env PAGER='/nowhere/pager -R'", false),
                ("env -u PAGER PATH=/nowhere", false),
            ] {
                let line = "\(environment) \(Workplace.control) history long; echo \"sta\"\"tus $?.\""
                let terminal = try Terminal("bash", ["-c", line], in: container.path)
                if isPaged {
                    try terminal.wait("the pager") { $0.screen.text.hasSuffix("\n:") }
                    try terminal.type("q")
                }
                try terminal.wait(for: "status 0.")
                let text = terminal.screen.text
                if !isPaged, text.contains("error") || text.contains("not found") {
                    problems.append("\(line): \(text)")
                }
            }
            return problems
        }
    }

    @Test("A pager that is left early ends the command without a word, whatever is still to come")
    func early() throws {
        try withLists { container in
            var problems: [String] = []
            for line in ["blame lines", "log -p", "diff lines", "history long", "deleted --all"] {
                for pager in ["true", "head -n 1"] {
                    let terminal = try terminal(container, line, ["PAGER": pager, "NO_COLOR": "1"])
                    try terminal.wait(for: "status 0.")
                    let lines = terminal.screen.text.split(separator: "\n")
                    if lines.count != (pager == "true" ? 1 : 2) { problems.append("\(pager), \(line): \(lines)") }
                }
            }
            return problems
        }
    }

    @Test("An error is said on the terminal, and no pager is started for it")
    func errors() throws {
        try withLists { container in
            let recorder = try recorder(container)
            let terminal = try terminal(container, "history nowhere", ["PAGER": recorder])
            try terminal.wait(for: "status 1.")
            let isSaid = terminal.screen.text.contains("error: nowhere")
            return (isSaid ? [] : [terminal.screen.text]) + (container.text(of: "../read") == nil ? [] : ["paged"])
        }
    }

    @Test("Ctrl-C ends the command, not before its pager; the terminal is the shell's again")
    func interrupt() throws {
        try withLists { container in
            let path = container.path + "/../stubborn"
            // A shell's trap would miss an interrupt between its last look for one and its read.
            try writeProgram(
                path,
                """
                #!/usr/bin/python3
                import signal
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
                print("ready", flush=True)
                signal.sigwait([signal.SIGINT])
                print("interrupted", flush=True)
                with open("/dev/tty") as terminal: print("typed " + terminal.readline().strip() + ".")
                """)
            let shell = try Terminal.shell(in: container.path)
            // No further line: the pager would read it.
            try shell.type("PAGER=\(path) \(Workplace.control) blame lines\n")
            try shell.wait(for: "ready")
            try shell.type("\u{3}")
            try shell.wait(for: "interrupted")
            // The shell would have this line, had the command ended before its pager.
            try shell.type("word\n")
            try shell.wait(for: "typed word.")
            try shell.type("echo \"co\"\"de $?.\"\n")
            try shell.wait(for: "code 130.")
            return shell.screen.text.contains("error") ? [shell.screen.text] : []
        }
    }
}
