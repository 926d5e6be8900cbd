// Completion as people meet it: keys typed into bash and zsh in a terminal.

import Foundation
import Support
import Testing

@Suite("Completion in shells", .timeLimit(.minutes(5)))
struct CompletionTests {
    /// A container with a deleted file, a document of three versions, and `versionsctl` in PATH.
    private func withContainer(_ body: (Place, [String: String]) throws -> Void) throws {
        try Place.with { place in
            try place.mount()
            try shell(
                """
                mkdir c/sub; echo x > c/vanished.txt; echo y > c/sub/inner.txt; rm c/vanished.txt c/sub/inner.txt
                for i in 1 2 3; do echo $i > c/doc.txt; sync c/doc.txt; done
                """, in: place.path)
            let directory = URL(fileURLWithPath: Workplace.control).deletingLastPathComponent().path
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            try body(place, ["PATH": "\(directory):\(path)"])
            try place.unmount()
        }
    }

    /// Words that are begun, and what one tab makes of them.
    private static let lines = [
        ("versionsctl undelete van", "versionsctl undelete vanished.txt"),
        ("versionsctl undelete sub/i", "versionsctl undelete sub/inner.txt"),
        ("versionsctl show doc.txt --version pre", "versionsctl show doc.txt --version previous"),
        ("versionsctl restore doc.txt --before ba", "versionsctl restore doc.txt --before bash"),
        ("versionsctl restore sub --before ba", "versionsctl restore sub --before bash"),
        ("versionsctl config stale", "versionsctl config stale-writes"),
        ("versionsctl config stale-writes ref", "versionsctl config stale-writes refuse"),
        ("versionsctl hist", "versionsctl history"),
    ]

    @Test("bash completes deleted names, versions, settings and their values")
    func bash() throws {
        try withContainer { place, environment in
            let shell = try Terminal(
                "bash", ["--noprofile", "--norc"], in: place.path + "/c", environment: environment)
            try complete(shell, "source <(versionsctl completion bash); clear; echo re\"\"ady")
        }
    }

    @Test("zsh completes deleted names, versions, settings and their values")
    func zsh() throws {
        try withContainer { place, environment in
            let functions = place.path + "/functions"
            try FileManager.default.createDirectory(atPath: functions, withIntermediateDirectories: false)
            let script = try place.ctl("completion", "zsh").text
            try script.write(toFile: functions + "/_versionsctl", atomically: false, encoding: .utf8)
            let shell = try Terminal("zsh", ["-f"], in: place.path + "/c", environment: environment)
            try complete(
                shell,
                "fpath=(\(functions) $fpath); autoload -U compinit; compinit -u -d \(place.path)/dump; "
                    + "PS1='$ '; clear; echo re''ady")
        }
    }

    private func complete(_ shell: Terminal, _ setup: String) throws {
        try shell.type(setup + "\n")
        try shell.wait(for: "ready")
        for (typed, expected) in Self.lines {
            try shell.type(typed + "\t")
            try shell.wait(for: "$ " + expected)
            // Ctrl-U empties the line in both.
            try shell.type("\u{15}")
            try shell.waitUntilGone(expected)
        }
        try shell.type("exit\n")
        _ = try shell.waitForExit()
    }

    @Test("fish gets a script, and another shell is wrong usage")
    func scripts() throws {
        try Place.with { place in
            #expect(try place.ctl("completion", "fish").text.contains("complete -c 'versionsctl'"))
            let wrong = try place.ctl("completion", "csh")
            expectError(wrong, "csh", status: 64)
        }
    }
}
