// `versionsctl resolve` on a terminal: it asks until the conflict is resolved, with the user's editor and merge tool.

import Foundation
import Support
import Testing

@Suite("resolve asks until the conflict is resolved", .timeLimit(.minutes(5)))
struct ResolveDialogTests {
    private static let prompt = "[?] for help:"
    private static let begun = "one\ntwo\nthree\nfour\nfive\n"
    /// What the first saves, and the second from the same base: their edits overlap.
    private static let overlapping = ["one A\ntwo\nthree\nfour\nfive\n", "one B\ntwo\nthree\nfour\nfive\n"]
    private static let apart = ["one A\ntwo\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\nfive B\n"]

    /// A container with a conflict on `f.txt`, and a directory beside it for scripts and for temporary files.
    private func withConflict(
        _ contents: [String], _ body: (TestContainer, Desk) throws -> [String]
    ) throws {
        try withContainer(named: "dialog", files: ["f.txt": Self.begun]) { container in
            guard container.isVersioned else { return [] }
            let actors = try contents.map { _ in try ActorProcess("code", in: container.path) }
            for actor in actors { _ = try actor.load("f.txt") }
            for (actor, content) in zip(actors, contents) { try actor.save(content, to: "f.txt") }
            let desk = try Desk(container)
            return try body(container, desk) + desk.leftovers() + container.checkFindings()
        }
    }

    /// Where scripts and temporary files lie, and a terminal at which resolve asks.
    private final class Desk {
        let container: TestContainer
        let directory: String
        var environment: [String: String]

        init(_ container: TestContainer) throws {
            self.container = container
            directory = container.path + "-desk"
            try FileManager.default.createDirectory(atPath: directory + "/tmp", withIntermediateDirectories: true)
            try "".write(toFile: directory + "/gitconfig", atomically: false, encoding: .utf8)
            environment = [
                "TMPDIR": directory + "/tmp", "NO_COLOR": "1", "PAGER": "cat", "VISUAL": "", "EDITOR": "false",
                "GIT_CONFIG_GLOBAL": directory + "/gitconfig", "GIT_CONFIG_NOSYSTEM": "1",
            ]
        }

        /// A script, which gets what its caller gives it.
        func script(_ name: String, _ lines: String) throws -> String {
            let path = directory + "/" + name
            try writeProgram(path, "#!/bin/sh\n\(lines)\n")
            return path
        }

        func configure(_ text: String) throws {
            try text.write(toFile: directory + "/gitconfig", atomically: false, encoding: .utf8)
        }

        func resolve(columns: Int = 132) throws -> Terminal {
            let terminal = try Terminal(
                "bash",
                ["-c", "stty cols \(columns); \(Workplace.control) resolve f.txt; echo \"sta\"\"tus $?.\""],
                in: container.path, environment: environment)
            try terminal.wait(for: ResolveDialogTests.prompt)
            return terminal
        }

        /// The text of an edit that was not taken, which only its user can read; the file is removed.
        func keptText() throws -> String? {
            let names = try FileManager.default.contentsOfDirectory(atPath: directory + "/tmp")
            guard names.count == 1, let name = names.first else { return nil }
            let path = directory + "/tmp/" + name
            defer { try? FileManager.default.removeItem(atPath: path) }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            return mode == 0o600 ? try String(contentsOfFile: path, encoding: .utf8) : nil
        }

        /// What the program has not cleaned up.
        func leftovers() throws -> [String] {
            let names = try FileManager.default.contentsOfDirectory(atPath: directory + "/tmp")
            return names.isEmpty ? [] : ["temporary files are left: \(names)"]
        }
    }

    /// Answers, and waits until it has said something and asks again.
    private func answer(_ keys: String, _ terminal: Terminal, _ said: String) throws {
        // A clean screen: only what follows counts.
        terminal.forget()
        try terminal.type(keys + "\n")
        try terminal.wait("it to say \"\(said)\" and to ask again") { terminal in
            // Messages are wrapped at words.
            let words = terminal.screen.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return words.contains(said) && words.contains(Self.prompt)
        }
    }

    @Test("An answer that it does not know, a comparison and the help each end in the choices; q leaves the conflict")
    func asking() throws {
        try withConflict(Self.overlapping) { container, desk in
            let terminal = try desk.resolve()
            let shown = terminal.screen.text
            var problems = ["Keep [c]urrent, use [1], keep [a]ll as separate files", "[m]erge", "[e]dit", "[t]ool"]
                .filter { !shown.contains($0) }.map { "it does not offer \($0): \(shown)" }
            try answer("nonsense", terminal, "Keep [c]urrent")
            try answer("2", terminal, "Keep [c]urrent")
            try answer("d", terminal, "-one B")
            try answer("?", terminal, "leaves the conflict as it is.")
            try terminal.type("q\n")
            try terminal.wait(for: "status 1.")
            if try container.conflicts().count != 1 { problems.append("the conflict has gone") }
            if container.text(of: "f.txt") != Self.overlapping[1] { problems.append("the file has changed") }
            return problems
        }
    }

    @Test("The end of input leaves the conflict, and the status says so")
    func end() throws {
        try withConflict(Self.overlapping) { container, desk in
            let terminal = try desk.resolve()
            try terminal.type("\u{4}")
            try terminal.wait(for: "status 1.")
            return try container.conflicts().count == 1 ? [] : ["the conflict has gone"]
        }
    }

    @Test("A merge without overlaps is taken")
    func cleanMerge() throws {
        try withConflict(Self.apart) { container, desk in
            let terminal = try desk.resolve()
            try terminal.type("m\n")
            try terminal.wait(for: "Resolved f.txt.")
            try terminal.wait(for: "status 0.")
            let text = container.text(of: "f.txt")
            let isMerged = try text == "one A\ntwo\nthree\nfour\nfive B\n" && container.conflicts().isEmpty
            return isMerged ? [] : ["f.txt has \(text ?? "gone")"]
        }
    }

    @Test("Overlaps are counted, and the editor gets the text with markers; it is taken when none is left")
    func editing() throws {
        try withConflict(Self.overlapping) { container, desk in
            // Fails, changes nothing, leaves markers, and at last removes them: one after the other.
            desk.environment["EDITOR"] = try desk.script(
                "editor",
                """
                cd \(desk.directory); n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; cp "$1" seen$n
                case $n in
                0) echo lost > "$1"; exit 3;;
                1) ;;
                2) sed -i 's/one A/one C/' "$1";;
                *) sed -i '/^<<<<<<<\\|^=======\\|^>>>>>>>/d' "$1";;
                esac
                """)
            let terminal = try desk.resolve()
            try answer("m", terminal, "1 conflict left in the merged text; nothing was changed")
            try answer("e", terminal, "ended with status 3; nothing was changed")
            var problems = try desk.keptText() == "lost\n" ? [] : ["the text of the failing editor is not kept"]
            try answer("e", terminal, "the text was not changed in the editor")
            try answer("e", terminal, "1 conflict left in the text; nothing was changed")
            if container.text(of: "f.txt") != Self.overlapping[1] { problems.append("the file has changed") }
            if try container.conflicts().count != 1 { problems.append("the conflict has gone") }
            try terminal.type("e\n")
            try terminal.wait(for: "status 0.")
            if container.text(of: "f.txt") != "one B\none C\ntwo\nthree\nfour\nfive\n" {
                problems.append("f.txt has \(container.text(of: "f.txt") ?? "gone")")
            }
            if try !container.conflicts().isEmpty { problems.append("the conflict is left") }
            let seen = try (0...3).map { try String(contentsOfFile: desk.directory + "/seen\($0)", encoding: .utf8) }
            if !seen[0].contains("<<<<<<< current\none B\n=======\none A\n>>>>>>> ") || seen[1] != seen[0] {
                problems.append("the editor got \(seen)")
            }
            if !seen[3].contains("one C") { problems.append("the edited text was lost: \(seen[3])") }
            return problems
        }
    }

    @Test("What is saved while the editor runs is not overwritten; editing goes on with both")
    func savedMeanwhile() throws {
        try withConflict(Self.apart) { container, desk in
            desk.environment["VISUAL"] = try desk.script(
                "editor",
                """
                cd \(desk.directory); cp "$1" seen
                if [ ! -e again ]; then
                    touch again; sed -i 's/^one A/one edited/' "$1"
                    printf 'one\\ntwo\\nthree saved\\nfour\\nfive B\\n' > \(container.path)/f.txt
                fi
                """)
            let terminal = try desk.resolve()
            try answer("e", terminal, "the file was saved meanwhile; the conflict is not resolved")
            var problems: [String] = []
            if container.text(of: "f.txt")?.contains("three saved") != true { problems.append("it was overwritten") }
            if try container.conflicts().count != 1 { problems.append("the conflict has gone") }
            try terminal.type("e\n")
            try terminal.wait(for: "status 0.")
            let text = container.text(of: "f.txt")
            if text != "one edited\ntwo\nthree saved\nfour\nfive B\n" { problems.append("f.txt has \(text ?? "gone")") }
            return problems
        }
    }

    @Test("What is appended while the editor runs, and makes no version of its own, is not overwritten either")
    func appendedMeanwhile() throws {
        try withConflict(Self.apart) { container, desk in
            // One process appends twice: its second append amends the version of the first.
            try shell(
                """
                cd \(desk.directory); mkfifo go ready done
                bash -c 'exec 3<> go; cd \(container.path); echo log >> f.txt; echo > \(desk.directory)/ready
                    read -t 60 -u 3 && echo more >> f.txt && echo > \(desk.directory)/done' \
                    < /dev/null > /dev/null 2>&1 &
                read -r started < ready
                """)
            desk.environment["VISUAL"] = try desk.script(
                "editor",
                """
                cd \(desk.directory)
                [ -e again ] && exit; touch again; sed -i 's/^one A/one edited/' "$1"
                echo > go; read -r appended < done
                """)
            let before = try container.history(of: "f.txt").versions.count
            let terminal = try desk.resolve()
            try answer("e", terminal, "the file was saved meanwhile; the conflict is not resolved")
            var problems: [String] = []
            if container.text(of: "f.txt")?.hasSuffix("log\nmore\n") != true { problems.append("it was overwritten") }
            if try container.history(of: "f.txt").versions.count != before { problems.append("nothing was amended") }
            try terminal.type("e\n")
            try terminal.wait(for: "status 0.")
            let text = container.text(of: "f.txt")
            if text != "one edited\ntwo\nthree\nfour\nfive B\nlog\nmore\n" {
                problems.append("f.txt has \(text ?? "gone")")
            }
            return problems
        }
    }

    @Test("An edited text that was not taken is kept in a file when people leave", arguments: ["q\n", "\u{4}"])
    func leaving(keys: String) throws {
        try withConflict(Self.overlapping) { container, desk in
            desk.environment["EDITOR"] = try desk.script("editor", "sed -i 's/one A/one C/' \"$1\"")
            let terminal = try desk.resolve()
            try answer("e", terminal, "1 conflict left in the text; nothing was changed")
            try terminal.type(keys)
            try terminal.wait(for: "Your text is in")
            try terminal.wait(for: "status 1.")
            let text = try desk.keptText()
            return text?.contains("one C") == true ? [] : ["kept: \(text ?? "nothing")"]
        }
    }

    @Test("What a failing tool has written is kept in a file")
    func failingTool() throws {
        try withConflict(Self.overlapping) { container, desk in
            let tool = try desk.script("tool", "echo work > \"$MERGED\"; exit 7")
            try desk.configure("[merge]\n\ttool = mine\n[mergetool \"mine\"]\n\tcmd = \(tool)\n")
            let terminal = try desk.resolve()
            try answer("t", terminal, "your text is in")
            var problems = try desk.keptText() == "work\n" ? [] : ["the work is not kept"]
            try terminal.type("q\n")
            try terminal.wait(for: "status 1.")
            let command = ["TMPDIR=\(desk.directory)/tmp", Workplace.control, "resolve", "f.txt", "--merge"]
            let output = try run("env", command + ["--tool", tool], in: container.path)
            if !output.errors.contains("your text is in") { problems.append("it says \(output.errors)") }
            if try desk.keptText() != "work\n" { problems.append("the work of --tool is not kept") }
            return problems
        }
    }

    @Test("What is saved while a tool runs is not overwritten either, and a failing tool changes nothing")
    func tools() throws {
        try withConflict(Self.overlapping) { container, desk in
            let tool = try desk.script(
                "tool",
                """
                cd \(desk.directory); n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n
                cat "$LOCAL" "$BASE" "$REMOTE" > seen; cp "$MERGED" merged
                case $n in
                0) exit 7;;
                1) ;;
                2) echo taken > "$MERGED"; echo saved > \(container.path)/f.txt;;
                *) echo taken > "$MERGED";;
                esac
                """)
            try desk.configure("[merge]\n\ttool = mine\n[mergetool \"mine\"]\n\tcmd = \(tool) $LOCAL\n")
            let terminal = try desk.resolve()
            try answer("t", terminal, "mine ended with status 7; nothing was changed")
            try answer("t", terminal, "mine has not written the merged file")
            try answer("t", terminal, "the file was saved meanwhile")
            let seen = try String(contentsOfFile: desk.directory + "/seen", encoding: .utf8)
            let merged = try String(contentsOfFile: desk.directory + "/merged", encoding: .utf8)
            var problems: [String] = []
            if seen != Self.overlapping[1] + Self.begun + Self.overlapping[0] { problems.append("it got \(seen)") }
            if !merged.contains("<<<<<<< current") { problems.append("MERGED has \(merged)") }
            if container.text(of: "f.txt") != "saved\n" { problems.append("what was saved is gone") }
            try terminal.type("t\n")
            try terminal.wait(for: "status 0.")
            if container.text(of: "f.txt") != "taken\n" { problems.append("the merged text is not there") }
            return problems
        }
    }

    @Test("Of several versions a tool takes the first; it shows what is left, and asks again")
    func several() throws {
        try withConflict(Self.overlapping + ["one\ntwo\nthree C\nfour\nfive\n"]) { container, desk in
            let terminal = try desk.resolve()
            var problems = terminal.screen.text.contains("use [1-2]") ? [] : ["not two: \(terminal.screen.text)"]
            try terminal.type("t\n")
            try terminal.wait(for: Told.noMergeTool)
            try answer("", terminal, "Keep [c]urrent")
            try terminal.type("t\n")
            try terminal.wait(for: Told.noMergeTool)
            try answer("cp $REMOTE $MERGED", terminal, "1 other version to resolve")
            if try container.conflicts().first?.versions.count != 1 { problems.append("not one is left") }
            try terminal.type("c\n")
            try terminal.wait(for: "status 0.")
            if try !container.conflicts().isEmpty { problems.append("a conflict is left") }
            return problems
        }
    }

    @Test("What is no answer is named, and asked again; the list of answers ends at words")
    func misunderstood() throws {
        try withConflict(Self.overlapping) { container, desk in
            let terminal = try desk.resolve(columns: 80)
            try answer("what", terminal, "'what' is none of the answers.")
            try answer("?", terminal, "leaves the conflict as it is.")
            let lines = terminal.screen.text.split(separator: "\n")
            let list = lines.drop { !$0.hasPrefix("  c    ") }.prefix { !$0.hasPrefix("The versions") }
            try terminal.type("c\n")
            try terminal.wait(for: "status 0.")
            let isWhole = list.count > 8 && list.allSatisfy { $0.prefix(2) == "  " && $0.count <= 80 }
            return isWhole ? [] : ["broken lines: \(lines)"]
        }
    }

    @Test("In vimdiff the cursor is in MERGED", arguments: ["vimdiff", "nvimdiff"])
    func vimdiff(_ tool: String) throws {
        try withConflict(Self.overlapping) { container, desk in
            try desk.configure("[merge]\n\ttool = \(tool)\n")
            desk.environment["VIMINIT"] = "set nomore noswapfile"
            let terminal = try desk.resolve()
            try terminal.type("t\n")
            try terminal.wait(for: "MERGED.txt")
            try terminal.type(":%d\rimerged\u{1B}:wqa\r")
            try terminal.wait(for: "status 0.")
            let text = container.text(of: "f.txt")
            return text == "merged\n" ? [] : ["f.txt has \(text ?? "gone")"]
        }
    }
}
