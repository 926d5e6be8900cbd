// The built versionsctl: exit statuses, its two lines of error, and the commands against a served socket.

import ControlProtocol
import Foundation
import Glibc
import Support
import Synchronization
import Testing
import VersionModel

@Suite("versionsctl as built", .timeLimit(.minutes(5)))
struct ToolTests {
    @Test("help and version are answers")
    func help() throws {
        for arguments in [["--help"], ["help", "resolve"], ["--version"], ["resolve", "--help"]] {
            let run = try runTool(arguments)
            #expect(run.status == 0 && !run.output.isEmpty && run.errors.isEmpty, "\(arguments)")
        }
    }

    @Test("wrong usage is 64", arguments: [
        ["--nonsense"], ["nonsense"], ["history"], ["resolve", "x"], ["resolve", "x", "--keep", "current", "--newest"],
        ["restore"], ["restore", "x", "--at", "yesterday-ish"], ["purge"], ["watch", "--after", "x"],
        ["diff", "x", "--version", "a", "--version", "b", "--version", "c"], ["simulate", "conflict"],
    ])
    func usage(arguments: [String]) throws {
        let run = try runTool(arguments)
        #expect(run.status == 64 && run.output.isEmpty)
        let labels = run.errors.split(separator: "\n").map { $0.prefix { $0 != ":" } }
        #expect(labels.first == "error" && labels.last == "usage" && labels.count <= 3, "\(run.errors)")
    }

    @Test("words that are no command are answered with what is wrong, and how they go")
    func usageLines() throws {
        let list = "`versionsctl --help` lists the commands.\nusage: versionsctl COMMAND [ARGUMENT...]"
        let history = "usage: versionsctl history <file> [--no-pager] [--json] [--container <path>]"
        let explained = "hint: `versionsctl help history` explains the arguments\n\(history)"
        for (arguments, lines) in [
            (["histroy"], "error: no command 'histroy'\nhint: did you mean `history`? \(list)"),
            (["hist", "note.txt"], "error: no command 'hist'\nhint: did you mean `history`? \(list)"),
            (["xyzzy"], "error: no command 'xyzzy'\nhint: \(list)"),
            (["help", "histroy"], "error: no command 'histroy'\nhint: did you mean `history`? \(list)"),
            (["un"], "error: no command 'un'\nhint: did you mean `unmount` or `unpin` or `undelete`? \(list)"),
            (["histroy", "--json"],
                #"{"error":"no command 'histroy'","hint":"did you mean `history`? `versionsctl --help` lists the "#
                    + #"commands.","usage":"versionsctl COMMAND [ARGUMENT...]"}"#),
            (["--colour", "histroy"], "error: no command 'histroy'\nhint: did you mean `history`? \(list)"),
            (["--container", "d", "histroy"], "error: no command 'histroy'\nhint: did you mean `history`? \(list)"),
            (["--container", "d", "history", "f"],
                "error: unknown option '--container'\n"
                    + "hint: options follow the command: `versionsctl history ...`. \(list)"),
            (["--nonsense"], "error: unknown option '--nonsense'\nhint: \(list)"),
            (["history", "-x"],
                "error: unknown option -x\nhint: `versionsctl help history` explains the options\n\(history)"),
            (["history", "--contaner", "d", "f"],
                "error: unknown option --contaner\nhint: did you mean `--container`? "
                    + "`versionsctl help history` explains the options\n\(history)"),
            (["history", ""], "error: <file> is empty\n\(explained)"),
            (["history"], "error: missing expected argument '<file>'\n\(explained)"),
            (["history", "a", "b", "c", "d"], "error: 3 unexpected arguments: 'b', 'c', 'd'\n\(explained)"),
            (["history", "a", "b", "c", "d", "e", "f"],
                "error: 5 unexpected arguments: 'b', 'c', 'd' and 2 more\n\(explained)"),
            (["history", "a\nb", "c\u{1b}"], "error: unexpected argument 'c\\x1b'\n\(explained)"),
        ] {
            let run = try runTool(arguments)
            #expect(run.errors == "\(lines)\n", "\(arguments): \(run.errors)")
        }
    }

    @Test("with --json errors are JSON on standard error, too, and without a terminal lines have 80 columns")
    func forms() throws {
        let directory = try temporaryDirectory()
        defer { remove(directory) }
        let failed = try runTool(["history", "x.txt", "--json"], in: directory)
        let error = try JSONDecoder().decode([String: String].self, from: Data(failed.errors.utf8))
        #expect(failed.status == 1 && error.keys.sorted() == ["error", "hint"] && failed.output.isEmpty)
        let wrong = try runTool(["history", "--json"], in: directory)
        let usage = try JSONDecoder().decode([String: String?].self, from: Data(wrong.errors.utf8))
        #expect(wrong.status == 64 && usage.keys.sorted() == ["error", "hint", "usage"])
        let narrow = try runTool(["purge", "--older-than", "never"], in: directory, environment: ["COLUMNS": ""])
        #expect(
            narrow.errors.split(separator: "\n").allSatisfy { $0.count <= 80 } && narrow.errors.contains("\n       "))
    }

    @Test("a word with one dash and several letters is no bundle: it is an unknown option, whatever letters it has")
    func dashes() throws {
        let directory = try temporaryDirectory()
        defer { remove(directory) }
        for word in ["-dash", "-hello", "-oh", "-xhz", "-2h", "-hé"] {
            for command in [["history"], ["diff"], ["undelete"], ["purge"], ["query", "TRUE"], ["mount"]] {
                let run = try runTool(command + [word], in: directory)
                #expect(run.status == 64 && run.output.isEmpty, "\(command) \(word): \(run)")
                let lines = "error: unknown option \(word)\nhint: write -- before names that begin with a dash\nusage: "
                #expect(run.errors.hasPrefix(lines + "versionsctl \(command[0]) "), "\(run.errors)")
            }
            let named = try runTool(["history", "--", word], in: directory)
            #expect(named.status == 1 && named.errors.contains("\(word): not in a container"), "\(named)")
        }
        let claimed = try runTool(["coordinate", "read", "-hello", "x.txt", "--", "ls", "-la"])
        #expect(
            claimed.status == 64 && claimed.errors.contains("unknown option -hello\nhint: write ./ before"),
            "\(claimed)")
        let bytes = try runTool(bytes: [Array("history".utf8), [0x2D, 0xFF, 0x68]], in: directory)
        #expect(bytes.status == 64 && bytes.errors.hasPrefix("error: unknown option -"))
        // Those that there are go on.
        for arguments in [["-h"], ["history", "-h"], ["-help"], ["history", "x.txt", "-h"]] {
            let run = try runTool(arguments)
            #expect(run.status == 0 && run.output.contains("USAGE") && run.errors.isEmpty, "\(arguments)")
        }
        for word in ["-o", "-o=ro"] {
            let mount = try runTool(["mount", "nowhere/x"] + [word] + (word == "-o" ? ["ro"] : []), in: directory)
            #expect(mount.status == 1 && !mount.errors.contains("option"), "\(mount)")
        }
    }

    @Test("an option of another command is unknown, one of ours behind a file stands in the wrong place")
    func misplacedOptions() throws {
        for (arguments, message) in [
            (["read", "--for-deleting", "f", "--", "true"], "unknown option --for-deleting"),
            (["read", "f", "--for-moving=x", "--", "true"], "unknown option --for-moving=x"),
            (["write", "--stat", "f", "--", "true"], "unknown option --stat"),
            (["write", "f", "--for-deleting", "--", "true"], "options come before the files: --for-deleting"),
            (["read", "f", "--container=c", "--", "true"], "options come before the files: --container=c"),
            (["read", "f", "--without-changes", "--", "true"], "options come before the files: --without-changes"),
        ] {
            let run = try runTool(["coordinate"] + arguments)
            let lines = "error: \(message)\nhint: `versionsctl help coordinate` explains the arguments\nusage: "
            #expect(run.status == 64 && run.errors.hasPrefix(lines), "\(arguments): \(run.errors)")
        }
    }

    @Test("outside a container everything fails with an error, a hint and 1")
    func outside() throws {
        let directory = try temporaryDirectory()
        defer { remove(directory) }
        let run = try runTool(["history", "x.txt"], in: directory)
        #expect(run.status == 1)
        let hint = "`versionsctl mount DIR` makes a directory a container"
        #expect(run.errors == "error: x.txt: not in a container\nhint: \(hint)\n")
    }

    @Test("an unmounted container says how to mount it")
    func notMounted() throws {
        let directory = try temporaryDirectory()
        defer { remove(directory) }
        for name in ["/.versionsfs", "/.versionsfs/objects"] { mkdir(directory + name, 0o700) }
        let run = try runTool(["history", "x.txt"], in: directory)
        #expect(run.status == 1)
        #expect(run.errors == "error: \(directory): not mounted\nhint: `versionsctl mount \(directory)` mounts it\n")
        #expect(try runTool(["conflicts", "--exit-code"], in: directory).status == 2)
    }

    @Test("history, conflicts and deleted print text and JSON")
    func listings() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        let text = try world.run(["history", "doc.txt"])
        #expect(text.status == 0)
        #expect(text.output.hasPrefix("doc.txt  3 versions\n") && text.errors.isEmpty)
        let json = try world.run(["history", "doc.txt", "--json"])
        let history = try JSONDecoder().decode(DocumentHistory.self, from: Data(json.output.utf8))
        #expect(history.versions.count == 3)
        #expect(try world.run(["conflicts", "--exit-code"]).status == 1)
        world.backend.state.withLock { $0.conflicts = [] }
        let none = try world.run(["conflicts", "--exit-code", "--json"])
        #expect(none.status == 0 && none.output == "[\n\n]\n")
        #expect(try world.run(["deleted"]).output == "Nothing deleted here.\n")
    }

    @Test("a path that is not UTF-8 reaches the daemon byte for byte")
    func bytes() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        let run = try runTool(bytes: [Array("history".utf8), [0x61, 0xFF]], in: world.tree)
        #expect(run.status == 0)
        #expect(world.backend.log.contains("history path a\u{FFFD}"))
    }

    @Test("an id serves for a path, and --container for the current directory")
    func ids() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        let run = try runTool(["undelete", "0123456789ab", "--container", world.tree], in: "/")
        #expect(run.status == 1)
        #expect(world.backend.log.contains("undelete id 0123456789ab"))
        #expect(run.errors.contains("exists\nhint: --to PATH puts it elsewhere"))
    }

    @Test("show prints the content, with --json the version")
    func show() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        #expect(try world.run(["show", "doc.txt", "--version", "00000002"]).output == "one\ntwo\nthree loser\n")
        #expect(try world.run(["show", "doc.txt", "--json"]).output.contains("\"kind\" : \"current\""))
        let missing = try world.run(["show", "doc.txt", "--version", "ffff"])
        #expect(missing.status == 1)
        #expect(missing.errors == "error: doc.txt: no version ffff\nhint: `versionsctl history` lists the versions\n")
    }

    @Test("a word of four hex digits and more is an id, unless there is a file of that name, or was one")
    func idsAndNames() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        try world.write("face", "")
        for (word, kind) in [
            ("cafe", "id"), ("0a1b2", "id"), ("abc", "path"), ("cafg", "path"), ("./cafe", "path"), ("face", "path"),
            ("beef", "path"),
        ] {
            _ = try world.run(["undelete", word])
            let name = word.hasPrefix("./") ? String(word.dropFirst(2)) : word
            let asked = world.backend.log.last { $0.hasPrefix("undelete") }
            #expect(asked == "undelete \(kind) \(name)", "\(word)")
        }
    }

    @Test("diff compares the loser with the current version")
    func diff() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        let run = try world.run(["diff", "doc.txt"])
        #expect(run.status == 0)
        #expect(run.output.contains("-three loser\n+three\n") && run.output.contains("-one\n+one current\n"))
        #expect(run.output.hasPrefix("--- doc.txt\t"))
        let own = try world.run(["diff", "doc.txt"], environment: ["VERSIONS_DIFF": "echo DIFF"])
        #expect(own.output == "DIFF \(world.tree)/loser.txt \(world.tree)/doc.txt\n")
    }

    @Test("resolve --merge writes both sides' edits in place and tells the daemon")
    func merge() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        let inode = try world.inode("doc.txt")
        let run = try world.run(["resolve", "doc.txt", "--merge"])
        #expect(run.status == 0 && run.output == "Resolved doc.txt.\n" && run.errors.isEmpty)
        #expect(try world.read("doc.txt") == "one current\ntwo\nthree loser\n")
        #expect(try world.inode("doc.txt") == inode)
        #expect(world.backend.log.contains("resolve path doc.txt merged seen 1"))
    }

    @Test("edits that overlap change nothing and say what to do; a tool then decides")
    func overlap() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        try world.write("loser.txt", "one loser\ntwo\nthree\n")
        let run = try world.run(["resolve", "doc.txt", "--merge"])
        #expect(run.status == 1)
        #expect(
            run.errors.hasPrefix("error: doc.txt: the edits of 000000020000 and of the current version overlap\nhint: ")
        )
        #expect(try world.read("doc.txt") == "one current\ntwo\nthree\n")
        let tool = world.directory + "/merger"
        try writeProgram(tool, "#!/bin/sh\ncat \"$1\" \"$2\" \"$3\" > \"$4\"\n")
        #expect(try world.run(["resolve", "doc.txt", "--tool", tool]).status == 0)
        #expect(try world.read("doc.txt") == "one current\ntwo\nthree\none\ntwo\nthree\none loser\ntwo\nthree\n")
        let failing = try world.run(["resolve", "doc.txt", "--merge", "--tool", "false"])
        #expect(failing.status == 1 && failing.errors.contains("false ended with status 1; nothing was changed"))
        // Closed without saving: 0 alone says nothing. What it wrote counts, even if it is the same.
        let asked = world.backend.log.count { $0.hasPrefix("resolve") }
        let idle = try world.run(["resolve", "doc.txt", "--tool", "true"])
        #expect(
            idle.status == 1
                && idle.errors.contains("true has not written the merged file; nothing was changed\nhint: "))
        #expect(world.backend.log.count { $0.hasPrefix("resolve") } == asked)
        #expect(try world.run(["resolve", "doc.txt", "--tool", #"cp "$LOCAL" "$MERGED""#]).status == 0)
        #expect(world.backend.log.count { $0.hasPrefix("resolve") } == asked + 1)
        let byName = #"cp "$REMOTE" "$MERGED""#
        #expect(try world.run(["resolve", "doc.txt", "--merge", "--tool", byName]).status == 0)
        #expect(try world.read("doc.txt") == "one loser\ntwo\nthree\n")
    }

    @Test("resolve --keep passes the choice and what was seen")
    func keep() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        for choice in ["current", "all", "0000000200"] {
            #expect(try world.run(["resolve", "doc.txt", "--keep", choice]).status == 0)
        }
        #expect(world.backend.log.filter { $0.hasPrefix("resolve") } == [
            "resolve path doc.txt current seen 1", "resolve path doc.txt all seen 1",
            "resolve path doc.txt version(\"0000000200\") seen 1",
        ])
        world.backend.state.withLock { $0.conflicts = [] }
        let none = try world.run(["resolve", "doc.txt", "--newest"])
        #expect(
            none.status == 1
                && none.errors
                    == "error: doc.txt: no conflict to resolve\n"
                        + "hint: `versionsctl conflicts` lists the documents with conflicts\n"
        )
    }

    @Test("restore to a path inside asks the daemon, to one outside copies")
    func restore() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        #expect(try world.run(["restore", "doc.txt", "--version", "00000002", "--to", "new.txt"]).status == 0)
        #expect(world.backend.log.contains("restore path doc.txt 00000002 to new.txt"))
        let outside = world.directory + "/outside.txt"
        #expect(try world.run(["restore", "doc.txt", "--version", "00000002", "--to", outside]).status == 0)
        #expect(try String(contentsOfFile: outside, encoding: .utf8) == "one\ntwo\nthree loser\n")
        let again = try world.run(["restore", "doc.txt", "--version", "00000002", "--to", outside])
        #expect(again.status == 1 && again.errors == "error: \(outside): exists\nhint: choose another name\n")
    }

    @Test("check is 0 when clean, 1 for findings, 2 when it fails")
    func check() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        let clean = try world.run(["check"])
        #expect(
            clean.status == 0
                && clean.output
                    == "clean: 3 older versions read and compared with what was saved; kept contents take 300 B "
                    + "on the disk\n")
        let finding = CheckReport.Finding(
            kind: "content-changed", subject: "00000002", problem: "the hash differs", document: Path("a.txt"),
            repair: "set the version aside", repaired: false)
        world.backend.state.withLock { $0.report.findings = [finding] }
        let found = try world.run(["check"])
        #expect(found.status == 1)
        #expect(
            found.output.hasPrefix("found  a.txt: the hash differs: --repair would set the version aside\n1 finding: "))
        #expect(try runTool(["check", "--container", "/nowhere"]).status == 2)
    }

    @Test("config shows settings and says why a value is refused")
    func config() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        #expect(try world.run(["config"]).output == "stale-writes  = \"keep\"\n")
        #expect(try world.run(["config", "stale-writes"]).output == "\"keep\"\n")
        let bad = try world.run(["config", "stale-writes", "maybe"])
        #expect(bad.status == 1 && bad.errors == "error: stale-writes cannot be maybe\nhint: keep, merge or refuse\n")
    }

    @Test("watch prints one object per line at once")
    func watch() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        world.backend.record((1...3).map { number in
            WatchEvent(sequence: number, event: .saved, path: Path("doc \(number)"), time: Samples.noon, user: "ann")
        })
        let noon = #""time":"2026-11-21T10:33:12.345678901Z""#
        let tool = try ToolProcess(arguments: ["watch", "--json", "--after", "1"], directory: world.tree)
        #expect(tool.line() == "{\"event\":\"saved\",\"path\":\"doc 2\",\"sequence\":2,\(noon),\"user\":\"ann\"}")
        #expect(tool.line() == "{\"event\":\"saved\",\"path\":\"doc 3\",\"sequence\":3,\(noon),\"user\":\"ann\"}")
        world.backend.record([WatchEvent(sequence: 4, event: .deleted, path: Path("x"), time: Samples.noon)])
        #expect(tool.line() == "{\"event\":\"deleted\",\"path\":\"x\",\"sequence\":4,\(noon)}")
        tool.end()
    }

    @Test("forget refuses a mounted container")
    func forget() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        let run = try world.run(["forget", world.tree])
        #expect(run.status == 1 && run.errors.contains("mounted\nhint: run `versionsctl unmount` first"))
    }

    @Test("unmounted, status speaks with a daemon that serves it offline")
    func offline() throws {
        let directory = try temporaryDirectory()
        defer { remove(directory) }
        for name in ["/.versionsfs", "/.versionsfs/objects"] { mkdir(directory + name, 0o700) }
        // What `versionsfs --offline DIR` would say, in a shell.
        let hello =
            #"""
            {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"version":"0.1.0",\#
            "container":"00000000000000050000000000000006"}}
            """#
        let status = String(decoding: try Wire.line(replying: Samples.status, to: .number(2)), as: UTF8.self)
        let script = "#!/bin/sh\n[ \"$1\" = --offline ] && [ \"$2\" = \(directory) ] || exit 1\n"
            + "read -r call; echo '\(hello)'; read -r call; printf '%s' '\(status)'\n"
        let program = directory + "/daemon"
        try writeProgram(program, script)
        let run = try runTool(["status", directory], environment: ["VERSIONSFS": program])
        #expect(run.status == 0 && run.output.contains("versions of 12 documents"), "\(run.errors)")
    }
}
