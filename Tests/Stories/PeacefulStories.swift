// The stories of DESIGN 6.1 that must not end in a conflict, over real processes in real terminals.

import Foundation
import Support
import Testing

@Suite struct PeacefulStories {
    @Test("cat, sed -i and > in one shell")
    func oneShell() throws {
        try noConflict { container in
            let shell = try Terminal.shell(in: container.path)
            for round in 1...5 {
                try shell.command("cat X > /dev/null; sed -i s/one/ONE/ X; echo \(round) > X")
                try shell.command("cat X > /dev/null; echo more >> X; sed -i s/more/less/ X; echo one \(round) > X")
            }
            try expect(container, holds: "one 5\n")
        }
    }

    @Test("Somebody has undone their edit before the other saves: nothing is lost by that")
    func undoneEdit() throws {
        try noConflict { container in
            let one = try ActorProcess("one", in: container.path)
            let two = try ActorProcess("two", in: container.path)
            let text = try two.load("X")
            try one.load("X")
            try one.save("edit\n", to: "X")
            try one.save(text, to: "X")
            try two.save(text + "line\n", to: "X")
            try expect(container, holds: text + "line\n")
        }
    }

    @Test("make in two terminals")
    func makeInTwoTerminals() throws {
        let makefile = "all: out log\nout: X\n\tsort X > out\nlog: out\n\tcat out X > log.new && mv log.new log\n"
        try noConflict(files: ["X": "one\ntwo\n", "Makefile": makefile]) { container in
            let shells = [try Terminal.shell(in: container.path), try Terminal.shell(in: container.path)]
            for round in 1...6 {
                let shell = shells[round % 2]
                // A whole second apart for make, which compares times.
                try shell.command(
                    "echo \(round) >> X; touch -d '+\(round) seconds' X; make -s")
            }
            // Both at once.
            let marks = try shells.map { try $0.submit("touch -d '+60 seconds' X; make -s -B") }
            for (shell, mark) in zip(shells, marks) { _ = try shell.finish(mark) }
        }
    }

    @Test("grep in a terminal, git pull in an IDE, git checkout in the terminal")
    func pullAndCheckout() throws {
        try noConflict { container in
            let terminal = try Terminal.shell(in: container.path)
            let ide = try Terminal.shell(in: container.path)
            let remote = try Workplace.fresh("remote")
            defer { try? FileManager.default.removeItem(atPath: remote) }
            try terminal.command(gitIdentity)
            try ide.command(gitIdentity)
            try must(terminal, "git init -q -b main . && git add X && git commit -qm 1 && git clone -q . \(remote)/r")
            try must(
                terminal,
                "(cd \(remote)/r && echo pulled > X && git commit -qam 2) && git remote add origin \(remote)/r")
            try must(terminal, "git branch side && grep -q one X")
            try must(ide, "git pull -q origin main")
            try must(terminal, "grep -q pulled X; git checkout -q side && git checkout -q main")
            try expect(container, holds: "pulled\n")
        }
    }

    @Test("cron jobs")
    func cronJobs() throws {
        try noConflict { container in
            let cron = try ActorProcess("cron", in: container.path)
            let person = try ActorProcess("editor", in: container.path)
            try cron.must("run", "sh", "-c", "cat X > /dev/null; sed -i s/one/1/ X")
            try person.load("X")
            try person.save("mine\n", to: "X")
            // The next job writes without reading; what the last one read says nothing about it.
            try cron.must("run", "sh", "-c", "date > X")
            try person.load("X")
            try person.save("mine again\n", to: "X")
            try cron.must("run", "sh", "-c", "date > X.new; mv X.new X")
        }
    }

    @Test("What was there before anyone looked is saved again, after its name went and came back")
    func theOldContentAgain() throws {
        try noConflict(files: ["X": "one\ntwo\n", "Y": "another\n"]) { container in
            let people = try ["mover", "editor", "saver", "other"].map { try ActorProcess($0, in: container.path) }
            // The daemon has not hashed it so far.
            try people[1].load("X")
            try people[0].must("rename", "X", "Y")
            try people[2].save("new\n", to: "X")
            try people[3].save("one\ntwo\n", to: "X")
            // This save goes on from the same content: nothing is lost by it.
            try people[1].save("newer\n", to: "X")
        }
    }

    @Test("A server with children that take turns")
    func preforkServer() throws {
        try noConflict { container in
            let server = try ActorProcess("httpd", in: container.path)
            for worker in ["w1", "w2", "w3"] { try server.must("spawn", worker) }
            for round in 1...6 {
                let worker = "w\(round % 3 + 1)"
                try server.must("to", worker, "load", "X")
                try server.must("to", worker, "open", "h", "X", "w+creat+trunc")
                try server.must("to", worker, "write", "h", "round-\(round)")
                try server.must("to", worker, "close", "h")
            }
            try expect(container, holds: "round-6")
        }
    }

    @Test("An editor that runs a formatter and reloads")
    func formatter() throws {
        try noConflict { container in
            let editor = try ActorProcess("editor", in: container.path)
            try editor.load("X")
            try editor.save("unformatted", to: "X")
            try editor.must("run", "sed", "-i", "s/un//", "X")
            try editor.load("X")
            try editor.saveByRename("formatted again", to: "X")
            // Even one that does not reload: its own child's change is its own.
            try editor.must("run", "sed", "-i", "s/again/twice/", "X")
            try editor.save("from the old buffer", to: "X")
            try expect(container, holds: "from the old buffer")
        }
    }

    @Test("vim that filters its file through a program")
    func vimWithFormatter() throws {
        try noConflict { container in
            let vim = try Vim(container, "backupcopy=auto")
            try vim.save("1s/.*/first/")
            try vim.terminal.type(":silent !sed -i s/first/formatted/ X\r")
            try vim.terminal.wait(for: "(L)oad File")
            try vim.terminal.type("L")
            try vim.terminal.waitUntilGone("(L)oad File")
            try vim.save("2s/.*/second/")
            try expect(container, holds: "formatted\nsecond\n")
        }
    }

    @Test("The same content saved by two programs from one base")
    func sameContent() throws {
        try noConflict { container in
            let one = try ActorProcess("one", in: container.path)
            let two = try ActorProcess("two", in: container.path)
            for actor in [one, two] { try actor.load("X") }
            try one.save("same\n", to: "X")
            try two.saveByRename("same\n", to: "X")
            try expect(container, holds: "same\n")
        }
    }

    @Test("Two programs that append")
    func appending() throws {
        try noConflict { container in
            let one = try ActorProcess("one", in: container.path)
            let two = try ActorProcess("two", in: container.path)
            for actor in [one, two] {
                try actor.load("X")
                try actor.must("open", "h", "X", "w+append")
            }
            for (actor, text) in [(one, "a"), (two, "b"), (one, "c")] { try actor.must("write", "h", text) }
            for actor in [one, two] { try actor.must("close", "h") }
            try expect(container, holds: "one\ntwo\nabc")
        }
    }
}

private func must(_ shell: Terminal, _ line: String) throws {
    let status = try shell.command(line)
    guard status == 0 else { throw Failure("\(line) ended with status \(status)", evidence: shell.screen.text) }
}

private func expect(_ container: TestContainer, holds text: String) throws {
    guard container.text(of: "X") == text else { throw Failure("X holds \(container.text(of: "X") ?? "nothing")") }
}
