// Names that look made up, and files that are ignored: what is work is kept, whatever it is called.

import Foundation
import Support
import Testing

@Suite struct MadeUpNameTests {
    private func contents(_ container: TestContainer, of file: String) throws -> [String] {
        try container.history(of: file).versions.reversed().map { version in
            String(decoding: try container.content(of: version), as: UTF8.self)
        }
    }

    @Test("what a program made under a name like its temporary ones is kept when it is overwritten", arguments: [
        "cp src Customer", "sed -n 'w sedentary' src; mv sedentary Customer",
    ])
    func overwritten(command: String) throws {
        try withContainer(named: "madeup", files: ["src": "one\n"], level: .versioned) { container in
            let shell = try Terminal.shell(in: container.path)
            try shell.command(command)
            try shell.command("echo two > Customer")
            try shell.command("echo three > n; mv n Customer")
            let found = try contents(container, of: "Customer")
            let expected = ["one\n", "two\n", "three\n"]
            return (found == expected ? [] : ["the versions hold \(found)"]) + (try container.checkFindings())
        }
    }

    @Test("removed by its maker it leaves nothing, removed by anybody else it is in the deleted area with its history")
    func removed() throws {
        try withContainer(named: "madeup", files: ["src": "one\n"], level: .versioned) { container in
            let people = try ["cp", "editor"].map { try ActorProcess($0, in: container.path) }
            for name in ["Cuabcdef", "Cughijkl", "Cumnopqr"] { try people[0].save("made", to: name) }
            try people[0].must("unlink", "Cuabcdef")
            try people[1].must("unlink", "Cughijkl")
            try people[1].save("saved", to: "Cumnopqr")
            try people[0].must("unlink", "Cumnopqr")
            let deleted = try container.deleted().map(\.path).sorted()
            var problems = deleted == ["Cughijkl", "Cumnopqr"] ? [] : ["deleted: \(deleted)"]
            let sizes = try container.history(of: "Cumnopqr").versions.map(\.size)
            if sizes != [5, 4] { problems.append("the versions have \(sizes) bytes") }
            return problems + (try container.checkFindings())
        }
    }

    @Test(
        "what was kept of a temporary file goes with its name, also when it is renamed over a document",
        arguments: [[:], ["VERSIONSFS_ENGINE": "1"]])
    func kept(environment: [String: String]) throws {
        try withContainer(
            named: "madeup", files: ["f": "zero"], environment: environment, level: .versioned
        ) { container in
            try saveByTemporaryFiles(in: container)
            let found = try contents(container, of: "f")
            return (found == ["zero", "two"] ? [] : ["the versions hold \(found)"]) + (try container.checkAtRest())
        }
    }

    private func saveByTemporaryFiles(in container: TestContainer) throws {
        let editor = try ActorProcess("editor", in: container.path)
        let temporary = "f.tmp.\(editor.pid).1"
        func save(_ text: String, isOpenStill: Bool = false) throws {
            try editor.must("open", "h", temporary, "w+creat+trunc")
            try editor.must("write", "h", text)
            if isOpenStill { try editor.must("dup", "h", "i") }
            try editor.must("close", "h")
        }
        // Overwritten, with other bytes than the document gets.
        try save("one")
        try save("two")
        try editor.must("rename", temporary, "f")
        // A writer that the kernel serves by itself is in the file still, and the document has these bytes already.
        try save("two", isOpenStill: true)
        try editor.must("rename", temporary, "f")
        try editor.must("close", "i")
        try save("three")
        try save("four")
        try editor.must("unlink", temporary)
    }

    @Test(
        "a removed .versionsignore ignores nothing, and what was saved before it was ignored stays when it is removed")
    func ignored() throws {
        try withContainer(named: "ignored", files: ["a.o": "1\n"], level: .versioned) { container in
            let shell = try Terminal.shell(in: container.path)
            try shell.command("echo 2 > a.o; echo '*.o' > .versionsignore; rm a.o; echo 3 > b.o; rm b.o")
            var problems: [String] = []
            let deleted = try container.deleted().map(\.path)
            if deleted != ["a.o"] { problems.append("deleted: \(deleted)") }
            for remove in ["rm .versionsignore", "mv .versionsignore elsewhere"] {
                try shell.command("echo '*.o' > .versionsignore; \(remove); echo 4 > c.o; echo 5 > c.o")
                let found = try contents(container, of: "c.o")
                if found != ["4\n", "5\n"] { problems.append("after \(remove) the versions hold \(found)") }
                try shell.command("rm c.o")
                try container.must("purge", "--deleted")
            }
            return problems + (try container.checkFindings())
        }
    }
}
