// What never conflicts because somebody has said so: a repository's .gitignore, `conflicts.quiet`; and
// `actors.boundaries`, which say where a lineage ends (DESIGN 5.2, 6.1).

import Foundation
import Support
import Testing

@Suite struct QuietStories {
    /// Two programs save each document from what both had read. Gives the documents that are in conflict then.
    private func collide(_ container: TestContainer, _ files: [String], _ round: Int = 1) throws -> [String] {
        let (code, claude) = (
            try ActorProcess("code", in: container.path), try ActorProcess("claude", in: container.path)
        )
        for file in files {
            for actor in [code, claude] { try actor.load(file) }
            try code.save("from code, \(round)", to: file)
            try claude.save("from claude, \(round)", to: file)
        }
        return container.isVersioned ? try container.conflicts().map(\.path).sorted() : []
    }

    @Test(
        """
        what a repository's .gitignore excludes never conflicts; what it does not, and what lies in no repository, does
        """)
    func ignored() throws {
        let files = ["r/build/out", "r/a.o", "r/sub/kept.tmp", "r/sub/other.tmp", "r/main.c", "plain/a.o"]
        try withContainer(
            named: "quiet", files: Dictionary(uniqueKeysWithValues: files.map { ($0, "one") })
        ) { container in
            try shell(
                """
                git init -q r; printf 'build/\\n*.o\\n' > r/.gitignore; printf '*.tmp\\n!kept.tmp\\n' > r/sub/.gitignore
                printf '*.o\\n' > plain/.gitignore
                """, in: container.path)
            let found = try collide(container, files)
            guard container.isVersioned else { return [] }
            var problems = found == ["plain/a.o", "r/main.c", "r/sub/kept.tmp"] ? [] : ["conflicts: \(found)"]
            // What is quiet has its history all the same.
            let versions = try container.history(of: "r/a.o").versions.count
            if versions != 3 { problems.append("\(versions) versions of r/a.o") }
            return problems
        }
    }

    @Test("conflicts.quiet as it is set, in place of what it is at first")
    func quiet() throws {
        let files = ["todo.txt", "notes/todo.txt", "main.c", "server.log"]
        let settings = ["conflicts.quiet": "[\"todo.txt\"]"]
        try withContainer(
            named: "quiet", files: Dictionary(uniqueKeysWithValues: files.map { ($0, "one") }), settings: settings
        ) {
            container in
            let found = try collide(container, files)
            guard container.isVersioned else { return [] }
            var problems = found == ["main.c", "server.log"] ? [] : ["conflicts: \(found)"]
            try container.must("config", "conflicts.quiet", "[\"*.c\", \"*.log\"]")
            try container.must("resolve", "--all", "--newest", ".")
            let then = try collide(container, files, 2)
            if then != ["notes/todo.txt", "todo.txt"] { problems.append("with another setting: \(then)") }
            return problems
        }
    }

    @Test(
        "a program among actors.boundaries does not count as the ancestor of those whom it runs",
        arguments: [true, false])
    func boundaries(isBoundary: Bool) throws {
        // One child of the agent reads, another writes; in between somebody else saves.
        try withContainer(
            named: "quiet", files: ["X": "one"], settings: ["actors.boundaries": isBoundary ? "[\"agent\"]" : "[]"]
        ) { container in
            // It counts from the next mount on.
            try container.remount()
            let (agent, editor) = (
                try ActorProcess("agent", in: container.path), try ActorProcess("editor", in: container.path)
            )
            try agent.must("run", "cat", "X")
            try editor.load("X")
            try editor.save("from the editor", to: "X")
            try agent.must("run", "sh", "-c", "echo from the agent > X")
            guard container.isVersioned else { return [] }
            let found = try container.conflicts().map(\.path)
            // Nobody can tell what the writer began with if what the reader has read is not lent to the agent.
            return found == (isBoundary ? [] : ["X"]) ? [] : ["conflicts: \(found)"]
        }
    }
}
