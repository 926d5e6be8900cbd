// Appends within a minute: those of one program go into one version, those of different programs are versions of
// their own (DESIGN 5.1).

import Foundation
import Support
import Testing

@Suite("Appends by one program and by several") struct AppendingProgramsTests {
    /// A document's versions, oldest first, as `PROGRAM: CONTENT`.
    private func versions(_ container: TestContainer, _ file: String) throws -> [String] {
        try container.history(of: file).versions.reversed().map { version in
            "\(version.program ?? "?"): \(String(decoding: try container.content(of: version), as: UTF8.self))"
        }
    }

    /// Plays in a container that keeps versions; reports documents that have other versions than expected.
    private func play(
        _ expected: [String: [String]], _ story: (TestContainer) throws -> Void
    ) throws {
        try withContainer(named: "appends") { container in
            try story(container)
            guard container.isVersioned else { return [] }
            var problems: [String] = []
            for (file, wanted) in expected.sorted(by: { $0.key < $1.key }) {
                let found = try versions(container, file)
                if found != wanted { problems.append("\(file) has \(found), not \(wanted)") }
            }
            return problems + (try container.checkFindings())
        }
    }

    @Test("A shell, then Python: two versions by two authors, and no content is copied")
    func twoPrograms() throws {
        let text = String(repeating: "a", count: 5000)
        try withContainer(named: "appends") { container in
            // It has to be gone before the container is unmounted.
            do {
                let terminal = try Terminal.shell(in: container.path)
                let more = "for i in $(seq 49); do echo \(text.prefix(99)) >> f; done"
                try terminal.command("echo \(text.prefix(100)) >> f; \(more)")
                let status = try terminal.command("python3 -c \"open('f', 'a').write('b\\n')\"")
                guard status == 0 else { return ["python failed"] }
            }
            guard container.isVersioned else { return [] }
            let versions = try container.history(of: "f").versions
            var problems: [String] = []
            let programs = versions.map { $0.program ?? "?" }
            if programs.count != 2 || !programs[0].hasPrefix("python") || programs[1] != "bash" {
                problems.append("the authors are \(programs)")
            }
            if versions.map(\.size) != [5003, 5001] { problems.append("the sizes are \(versions.map(\.size))") }
            let first = try versions.last.map { try container.content(of: $0) } ?? []
            if first.count != 5001 || first.contains(98) { problems.append("the first holds \(first.count) bytes") }
            try container.unmount()
            let objects = try run("find", [container.path + "/.versionsfs/objects", "-type", "f"]).text
            if !objects.isEmpty { problems.append("contents were copied: \(objects)") }
            try container.mount()
            return problems + (try container.checkFindings())
        }
    }

    @Test("One shell's own appends, and one program that it runs again and again, are one version each")
    func oneProgram() throws {
        try play(["own": ["bash: a\nb\n"], "loop": ["printf: 1\n2\n3\n"]]) { container in
            let terminal = try Terminal.shell(in: container.path)
            try terminal.command("echo a >> own; echo b >> own")
            try terminal.command("for i in 1 2 3; do /usr/bin/printf '%s\\n' $i >> loop; done")
        }
    }

    @Test("One program by name under two parents is two; in turns they make a version each time")
    func twoParents() throws {
        let turns = ["tail: a\n", "tail: a\nb\n", "tail: a\nb\nc\n", "tail: a\nb\nc\nd\n"]
        try play(["f": turns, "g": ["tail: 1\n2\n"]]) { container in
            let actors = try (0..<2).map { _ in try ActorProcess("tail", in: container.path) }
            for (index, text) in ["a", "b", "c", "d"].enumerated() {
                try append(text, to: "f", actors[index % 2])
            }
            // Two children of one parent.
            for (child, text) in [("x", "1"), ("y", "2")] {
                try actors[0].must("spawn", child)
                try actors[0].must("to", child, "open", "h", "g", "w+creat+append")
                try actors[0].must("to", child, "write", "h", text + "\n")
                try actors[0].must("to", child, "close", "h")
            }
        }
    }

    @Test("What conflicts.quiet names is amended by everyone")
    func quiet() throws {
        try play(["x.log": ["one: a\nb\n"], "x.txt": ["one: a\n", "two: a\nb\n"]]) { container in
            let actors = try ["one", "two"].map { try ActorProcess($0, in: container.path) }
            for (actor, text) in zip(actors, ["a", "b"]) {
                for file in ["x.log", "x.txt"] { try append(text, to: file, actor) }
            }
        }
    }

    @Test("A program that keeps its file open and goes on after another's append")
    func stayingOpen() throws {
        try play(["f": ["one: a\n", "two: a\nb\n", "one: a\nb\nc\n"]]) { container in
            let actors = try ["one", "two"].map { try ActorProcess($0, in: container.path) }
            try actors[0].must("open", "h", "f", "w+creat+append")
            try actors[0].must("write", "h", "a\n")
            // close(2) of a duplicate saves, and the file stays open.
            try actors[0].must("dup", "h", "d")
            try actors[0].must("close", "d")
            try append("b", to: "f", actors[1])
            try actors[0].must("write", "h", "c\n")
            try actors[0].must("close", "h")
        }
    }

    @Test("The last close of a program that has written nothing since another appended")
    func closingLate() throws {
        try play(["f": ["one: a\n", "two: a\nb\n", "one: a\nb\nc\n"]]) { container in
            let actors = try ["one", "two"].map { try ActorProcess($0, in: container.path) }
            for (actor, text) in zip(actors, ["a", "b"]) {
                try actor.must("open", "h", "f", "w+creat+append")
                try actor.must("write", "h", text + "\n")
                // close(2) of a duplicate saves, and the file stays open.
                try actor.must("dup", "h", "d")
                try actor.must("close", "d")
            }
            try actors[0].must("write", "h", "c\n")
            try actors[1].must("close", "h")
            try actors[0].must("close", "h")
        }
    }

    private func append(_ text: String, to file: String, _ actor: ActorProcess) throws {
        try actor.must("open", "append", file, "w+creat+append")
        try actor.must("write", "append", text + "\n")
        try actor.must("close", "append")
    }
}
