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
