// Files without versions in a mount over the engine.

import Foundation
import Support
import Testing

@Suite("The engine: what gets no versions")
struct EngineLeftOutTests {
    private func withEngine(_ body: (TestContainer) throws -> [String]) throws {
        try MountTests.withEngine(["a.o": "1\n"], body)
    }

    /// A name with the contents of its former versions, the oldest first.
    private func history(_ name: String, _ container: TestContainer) throws -> String {
        try shell("cd .versions/\(name)/history && cat $(ls) | tr '\\n' ' '", in: container.path).text
    }

    @Test("An ignored name gets no versions, and a document goes on under one")
    func ignored() throws {
        try withEngine { container in
            try shell(
                "echo 2 > a.o; echo '*.o' > .versionsignore; echo 3 > a.o; echo 4 > b.o; echo 5 > b.o; rm a.o b.o",
                in: container.path)
            let deleted = try shell("ls .versions/.deleted; cat .versions/.deleted/*", in: container.path).text
            var problems = deleted == "a.o\n3" ? [] : ["deleted: \(deleted)"]
            for (name, remove) in [("c.o", "rm .versionsignore"), ("d.o", "mv .versionsignore elsewhere")] {
                try shell(
                    "echo '*.o' > .versionsignore; \(remove); echo 4 > \(name); echo 5 > \(name)", in: container.path)
                let found = try history(name, container)
                if found != "4 " { problems.append("after \(remove): \(found)") }
            }
            return problems
        }
    }

    @Test("A file that is not ignored any more has versions, also what a program writes that had it open")
    func begun() throws {
        try withEngine { container in
            try shell(
                """
                echo '*.o' > .versionsignore
                echo 1 > b.o; mv b.o b; echo 2 > b; echo 3 > b
                exec 3> w.o; echo one >&3; mv w.o w; echo two >&3; exec 3>&-; echo three > w
                echo 1 > l.o; ln l.o l; echo 2 > l.o; echo 3 > l
                echo 1 > r.o; echo 1 > r; echo 2 > r; mv r.o r
                echo 1 > d; echo 1 > d.o; mv d d.o; echo 2 > d.o
                """, in: container.path)
            var problems: [String] = []
            let expected = ["b": "1 2", "w": "one one two", "l": "1 2", "r": "1 2", "d.o": "1"]
            for (name, contents) in expected.sorted(by: { $0.key < $1.key }) {
                let found = try history(name, container)
                if found != contents + " " { problems.append("\(name): \(found)") }
            }
            return problems
        }
    }

    @Test("A journal is a part of its database")
    func journals() throws {
        try withEngine { container in
            try shell(
                """
                sqlite3 data.db 'create table t(x); insert into t values(1);'
                sqlite3 data.db 'pragma journal_mode=wal; insert into t values(2);'
                sqlite3 data.db 'insert into t values(3);'
                echo x > data.db-journal; rm data.db-journal; echo y > other-journal; rm other-journal
                """, in: container.path)
            let deleted = try shell("ls .versions/.deleted", in: container.path).text
            return deleted == "other-journal" ? [] : ["deleted: \(deleted)"]
        }
    }

    @Test("A quiet document has no conflict: by its name, as a repository's own, or one that a repository ignores")
    func quiet() throws {
        try withEngine { container in
            try shell(
                """
                git init -q repository; echo '*.out' > repository/.gitignore; mkdir repository/sub
                for f in a.log f repository/.git/x repository/sub/a.out repository/sub/f; do echo zero > $f; done
                """, in: container.path)
            var problems: [String] = []
            for (name, conflicts) in [
                ("a.log", 0), ("f", 1), ("repository/.git/x", 0), ("repository/sub/a.out", 0), ("repository/sub/f", 1),
            ] {
                let one = try ActorProcess("one", in: container.path)
                let other = try ActorProcess("other", in: container.path)
                try one.load(name)
                try other.save("ours\n", to: name)
                try one.save("mine\n", to: name)
                let found = try shell("getfattr --only-values -n user.versions.conflicts \(name)", in: container.path)
                if found.text != String(conflicts) { problems.append("\(name): \(found.text) \(found.errors)") }
            }
            return problems
        }
    }

    @Test("A setting takes effect at once")
    func settings() throws {
        try withEngine { container in
            let set = try run(Workplace.control, ["config", "ignore.patterns", "[\"*.yy\"]"], in: container.path)
            try shell("echo 1 > s.yy; echo 2 > s.yy; rm s.yy; echo 1 > s; echo 2 > s; rm s", in: container.path)
            let deleted = try shell("ls .versions/.deleted", in: container.path).text
            return set.status == 0 && deleted == "s" ? [] : ["\(set.errors) deleted: \(deleted)"]
        }
    }
}
