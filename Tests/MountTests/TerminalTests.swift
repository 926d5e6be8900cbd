// versionsctl on a terminal: what it asks, what it colours, whose pager it uses, and where it says how far it is.

import Foundation
import Support
import Testing

@Suite("versionsctl on a terminal") struct TerminalTests {
    private func withConflict(_ body: (TestContainer) throws -> [String]) throws {
        try withContainer(named: "terminal", files: ["f": "one\n"]) { container in
            guard container.isVersioned else { return [] }
            let (code, claude) = (
                try ActorProcess("code", in: container.path), try ActorProcess("claude", in: container.path)
            )
            for actor in [code, claude] { try actor.load("f") }
            try code.save("ours\n", to: "f")
            try claude.save("theirs\n", to: "f")
            return try body(container)
        }
    }

    /// versionsctl in a terminal of its own, in the container.
    private func terminal(
        _ container: TestContainer, _ line: String, _ environment: [String: String] = [:]
    ) throws -> Terminal {
        try Terminal(
            "bash", ["-c", "\(Workplace.control) \(line); echo \"sta\"\"tus $?.\""], in: container.path,
            environment: ["PAGER": "cat"].merging(environment) { $1 })
    }

    @Test("resolve asks, showing who, when and how much differs, until it has an answer that it understands")
    func question() throws {
        try withConflict { container in
            let terminal = try terminal(container, "resolve f", ["NO_COLOR": "1"])
            try terminal.wait(for: "for help:")
            let shown = terminal.screen.text
            var problems = ["code (", "claude (", "SAVED", "against the current version: 1 line added, 1 removed"]
                .filter { !shown.contains($0) }
                .map { "it does not show \"\($0)\":\n\(shown)" }
            try terminal.type("nonsense\n")
            try terminal.wait("it to ask again") { $0.screen.text.components(separatedBy: "for help:").count > 2 }
            try terminal.type("d\n")
            try terminal.wait(for: "+ours")
            try terminal.wait(for: "-theirs")
            try terminal.type("1\n")
            try terminal.wait(for: "status 0.")
            if !terminal.screen.text.contains("Resolved f") { problems.append("it does not say what it has done") }
            if container.text(of: "f") != "ours\n" { problems.append("f has \(container.text(of: "f") ?? "gone")") }
            if try !container.conflicts().isEmpty { problems.append("there is a conflict") }
            return problems
        }
    }

    @Test("quitting leaves the conflict; without a terminal it does not ask, and says how to say it")
    func quitting() throws {
        try withConflict { container in
            let terminal = try terminal(container, "resolve f")
            try terminal.wait(for: "for help:")
            try terminal.type("q\n")
            try terminal.wait(for: "status 1.")
            let piped = try container.ctl(["resolve", "f"])
            var problems = try container.conflicts().count == 1 ? [] : ["the conflict has gone"]
            if piped.status != 64 || !piped.errors.contains("--keep") {
                problems.append("piped: \(piped.status) \(piped.errors)")
            }
            return problems
        }
    }

    @Test("colours are for terminals, and not where NO_COLOR is set or the terminal is dumb")
    func colours() throws {
        try withConflict { container in
            var problems: [String] = []
            // The screen understands colours; what was printed is kept beside it.
            for (environment, isColoured) in [
                ([:], true), (["NO_COLOR": "1"], false), (["NO_COLOR": ""], true), (["TERM": "dumb"], false),
            ] as [([String: String], Bool)] {
                let line = "script -qec '\(Workplace.control) conflicts; \(Workplace.control) diff f' /dev/null"
                let output = try run(
                    "bash", ["-c", line], in: container.path,
                    environment: ["TERM": "vt100", "PAGER": "cat", "NO_COLOR": ""].merging(environment) { $1 })
                if output.text.contains("\u{1B}[") != isColoured {
                    problems.append("\(environment): \(output.text.debugDescription)")
                }
            }
            let piped = try container.must("conflicts").text + container.must("diff", "f").text
            if piped.contains("\u{1B}") { problems.append("in a pipe: \(piped.debugDescription)") }
            return problems
        }
    }

    @Test("diff goes through the user's pager on a terminal only, and through the user's own diff")
    func pager() throws {
        try withConflict { container in
            let paged = try terminal(container, "diff f", ["PAGER": "sed s/^/paged:/", "NO_COLOR": "1"])
            try paged.wait(for: "paged:-ours")
            try paged.wait(for: "status 0.")
            let piped = try run(
                Workplace.control, ["diff", "f"], in: container.path, environment: ["PAGER": "sed s/^/paged:/"])
            let own = try run(
                Workplace.control, ["diff", "f"], in: container.path, environment: ["VERSIONS_DIFF": "cat"])
            var problems =
                piped.text.contains("paged:") || !piped.text.contains("-ours") ? ["piped: \(piped.text)"] : []
            if own.text != "ours\ntheirs" { problems.append("with a diff of one's own: \(own.text) \(own.errors)") }
            return problems
        }
    }

    @Test("long work says on standard error how far it is, on a terminal only, and wipes that away")
    func progress() throws {
        try withContainer(named: "progress") { container in
            guard container.isVersioned else { return [] }
            try shell("mkdir d; for i in $(seq 3000); do echo $i > d/f$i; done; rm -r d", in: container.path)
            let line = "script -qec '\(Workplace.control) undelete d > ../out' /dev/null"
            let output = try run("bash", ["-c", line], in: container.path)
            var problems: [String] = []
            if !output.text.contains(Told.undeleting) {
                problems.append("no progress: \(output.text.debugDescription)")
            }
            if !output.text.hasSuffix("\r\u{1B}[K") {
                problems.append("it is left there: \(output.text.debugDescription)")
            }
            let said = container.text(of: "../out") ?? ""
            if said.contains("undeleting") || !said.contains("d") { problems.append("standard output: \(said)") }
            let piped = try container.must("check")
            if !piped.errors.isEmpty { problems.append("in a pipe: \(piped.errors)") }
            return problems
        }
    }

    @Test(
        "completions for the shells that the argument parser knows are scripts that these take",
        arguments: ["bash", "zsh", "fish"])
    func completions(_ shell: String) throws {
        let output = try run(Workplace.control, ["--generate-completion-script", shell])
        #expect(output.status == 0 && output.errors.isEmpty, "\(output.errors)")
        for command in ["history", "resolve", "undelete", "coordinate"] {
            #expect(output.text.contains(command), "\(shell) knows no \(command)")
        }
        if shell == "bash" {
            let checked = try run("bash", ["-n"], input: output.stdout)
            #expect(checked.status == 0, "\(checked.errors)")
        }
    }
}
