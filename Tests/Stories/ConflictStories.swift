// The stories of DESIGN 6.1 that must end in a conflict whose loser is kept, over real processes in real terminals.

import Foundation
import Support
import Testing

@Suite struct ConflictStories {
    static let waysOfVim = ["backupcopy=auto", "backupcopy=yes", "backupcopy=no", "nowritebackup"]

    @Test("Two vims on one file", arguments: waysOfVim)
    func twoEditors(_ settings: String) throws {
        try oneConflict { container in
            let first = try Vim(container, settings)
            let second = try Vim(container, settings)
            try first.save("1s/.*/FIRST/")
            try second.save("2s/.*/SECOND/")
            return Expected(current: "one\nSECOND\n", loser: "FIRST\ntwo\n", program: "vim", pid: try first.pid())
        }
    }

    @Test("vim against a program that replaces by rename")
    func vimAgainstAgent() throws {
        try oneConflict { container in
            let vim = try Vim(container, "backupcopy=auto")
            let agent = try ActorProcess("claude", in: container.path)
            try agent.load("X")
            try agent.saveByRename("AGENT\ntwo\n", to: "X")
            try vim.save("2s/.*/VIM/")
            return Expected(current: "one\nVIM\n", loser: "AGENT\ntwo\n", program: "claude", pid: agent.pid)
        }
    }

    @Test("An agent whose children read and write, against an editor")
    func agentWithChildren() throws {
        try oneConflict { container in
            let agent = try ActorProcess("claude", in: container.path)
            let editor = try ActorProcess("editor", in: container.path)
            try agent.must("run", "cat", "X")
            try editor.load("X")
            try editor.save("EDITOR\n", to: "X")
            try agent.must("run", "sh", "-c", "echo AGENT > X")
            return Expected(current: "AGENT\n", loser: "EDITOR\n", program: "editor", pid: editor.pid)
        }
    }

    @Test("An IDE whose terminal ran rg, against an agent")
    func ideWithTerminal() throws {
        try oneConflict { container in
            let ide = try ActorProcess("code", in: container.path)
            let agent = try ActorProcess("claude", in: container.path)
            try ide.load("X")
            try agent.load("X")
            try agent.saveByRename("AGENT\n", to: "X")
            // What is read in the IDE's terminal is not what the IDE has in its buffer. script(1) makes such a
            // terminal.
            let status = try ide.must("run", "script", "-qec", "rg -q AGENT X; exit $?", "/dev/null")
            guard status == ["0"] else { throw Failure("rg in the terminal: status \(status)") }
            try ide.save("IDE\n", to: "X")
            return Expected(current: "IDE\n", loser: "AGENT\n", program: "claude", pid: agent.pid)
        }
    }

    @Test("Two tmux panes")
    func twoPanes() throws {
        try oneConflict { container in
            let place = try Workplace.fresh("tmux")
            defer { try? FileManager.default.removeItem(atPath: place) }
            let tmux = { (arguments: [String]) in
                _ = try mustRun(
                    "tmux", ["-S", place + "/socket", "-f", "/dev/null"] + arguments, in: container.path, seconds: 20)
            }
            try tmux(["new-session", "-d", "-s", "s", "bash --norc --noprofile"])
            defer { try? tmux(["kill-server"]) }
            try tmux(["split-window", "-t", "s", "bash --norc --noprofile"])
            var count = 0
            // `wait-for` blocks until the pane says that its command is done.
            let inPane = { (pane: Int, line: String) in
                count += 1
                let signal = "tmux -S \(place)/socket wait-for -S done\(count)"
                try tmux(["send-keys", "-t", "s.\(pane)", line + "; " + signal, "Enter"])
                try tmux(["wait-for", "done\(count)"])
            }
            try inPane(0, "cat X")
            try inPane(1, "cat X")
            try inPane(1, "echo RIGHT > X")
            try inPane(0, "echo LEFT > X")
            return Expected(current: "LEFT\n", loser: "RIGHT\n", program: "bash")
        }
    }

    @Test("A stale save in place and a stale save by rename", arguments: [false, true])
    func stale(byRename: Bool) throws {
        try oneConflict { container in
            let one = try ActorProcess("one", in: container.path)
            let two = try ActorProcess("two", in: container.path)
            for actor in [one, two] { try actor.load("X") }
            try one.save("ONE\n", to: "X")
            if byRename { try two.saveByRename("TWO\n", to: "X") } else { try two.save("TWO\n", to: "X") }
            return Expected(current: "TWO\n", loser: "ONE\n", program: "one", pid: one.pid)
        }
    }

    @Test("Children of one parent are strangers to one another")
    func siblings() throws {
        try oneConflict { container in
            let parent = try ActorProcess("parent", in: container.path)
            var pids: [String: Int32] = [:]
            for child in ["a", "b"] { pids[child] = Int32(try parent.must("spawn", child).first ?? "") }
            for child in ["a", "b"] { try parent.must("to", child, "load", "X") }
            for child in ["a", "b"] {
                try parent.must("to", child, "open", "h", "X", "w+creat+trunc")
                try parent.must("to", child, "write", "h", child)
                try parent.must("to", child, "close", "h")
            }
            return Expected(current: "b", loser: "a", pid: pids["a"])
        }
    }

    @Test("A revert is an edit: what it brings back may lose like anything else", arguments: [false, true])
    func revert(byRename: Bool) throws {
        try oneConflict { container in
            let actors = try ["first", "reader", "reverter"].map { try ActorProcess($0, in: container.path) }
            try actors[0].load("X")
            try actors[0].save("TWO\n", to: "X")
            let text = try actors[1].load("X")
            try actors[2].load("X")
            let old = "one\ntwo\n"
            if byRename { try actors[2].saveByRename(old, to: "X") } else { try actors[2].save(old, to: "X") }
            let new = text + "line\n"
            if byRename { try actors[1].saveByRename(new, to: "X") } else { try actors[1].save(new, to: "X") }
            return Expected(current: new, loser: old, base: "TWO\n", program: "reverter", pid: actors[2].pid)
        }
    }

    @Test("A content that has lost already does not lose a second time")
    func sameLoser() throws {
        try oneConflict { container in
            let actors = try ["first", "second", "third"].map { try ActorProcess($0, in: container.path) }
            for actor in actors.prefix(2) { try actor.load("X") }
            try actors[0].save("A\n", to: "X")
            try actors[1].save("B\n", to: "X")
            try actors[2].load("X")
            try actors[2].save("A\n", to: "X")
            try actors[1].save("C\n", to: "X")
            return Expected(current: "C\n", loser: "A\n", program: "first", pid: actors[0].pid)
        }
    }
}
