// What people type at versionsctl, and what it says to them.

import Foundation
import Support
import Testing

@Suite struct TypedTests {
    @Test("Commands about a container take any path in it")
    func paths() throws {
        try Place.with { place in
            try place.mount()
            try shell("mkdir c/d", in: place.path)
            for command in ["status", "check", "thin", "claims", "space", "conflicts", "deleted"] {
                for path in ["c", "c/d"] {
                    let output = try place.ctl(command, path)
                    #expect(output.status == 0, "\(command) \(path): \(output.errors)")
                }
            }
            let elsewhere = try place.ctl("config")
            expectError(elsewhere, Told.noHereContainer, "--container")
            try place.unmount()
            for command in ["status", "check"] {
                #expect(try place.ctl(command, "c/d").status == 0, "\(command) unmounted")
            }
        }
    }

    @Test("What is not there cannot be watched, unless it was watched before")
    func watching() throws {
        try Place.with { place in
            try place.mount()
            expectError(try place.ctl("watch", "c/nope"), "c/nope", Told.noSuchFile, "its directory")
            let again = try run("timeout", ["1", Workplace.control, "watch", "c/nope", "--after", "0"], in: place.path)
            #expect(again.status == 124, "\(again.errors)")
            try place.unmount()
        }
    }

    @Test("A setting that does not do all of its work yet says what it does", arguments: [
        ("scopes.documents", #"["/Letters"]"#, Told.onQueries),
        ("packages.extensions", #"["rtfd"]"#, Told.onClaims),
    ])
    func partlyInEffect(_ key: String, _ value: String, _ work: String) throws {
        try Place.with { place in
            try place.mount()
            let before = try place.ctl("config", "--container", "c").text
            #expect(!before.contains(Told.noEffectYet), "\(before)")
            let set = try place.ctl("config", key, value, "--container", "c")
            #expect(set.status == 0 && set.errors.contains("\(key): no effect yet \(work)"), "\(set.errors)")
            let line = try place.ctl("config", "--container", "c").text.split(separator: "\n").first {
                $0.hasPrefix(key)
            }
            #expect(line?.contains("# no effect yet \(work)") == true, "\(line ?? "-")")
            try place.unmount()
        }
    }

    @Test("What was deleted from a directory comes back into a new one of its name")
    func recreated() throws {
        try Place.with { place in
            try place.mount()
            try shell(
                "mkdir -p c/e/sub; echo 1 > c/e/a; echo 2 > c/e/sub/b; rm -r c/e; mkdir c/e; echo new > c/e/new",
                in: place.path)
            // The directory itself cannot: its name is taken.
            expectError(try place.ctl("undelete", "c/e"), "c/e", "--to")
            for name in ["c/e/a", "c/e/sub"] {
                let output = try place.ctl("undelete", name)
                #expect(output.status == 0, "\(name): \(output.errors)")
            }
            #expect(try shell("cd c/e; cat a new sub/b", in: place.path).text == "1\nnew\n2")
            try place.unmount()
            #expect(try place.ctl("check", "c").status == 0)
        }
    }

    @Test("All names of a file that one of them came back to know how many they are")
    func links() throws {
        try Place.with { place in
            try place.mount()
            try shell("echo h > c/h; ln c/h c/h2; rm c/h2; stat c/h", in: place.path)
            #expect(try place.ctl("undelete", "c/h2").status == 0)
            // The kernel is told behind the answer.
            let patience = Deadline.after(seconds: 1)
            var counts = ""
            repeat {
                counts = try shell("stat -c %h c/h c/h2", in: place.path).text
            } while counts != "2\n2" && !patience.isOver
            #expect(counts == "2\n2")
            try place.unmount()
        }
    }

    @Test(
        "vim leaves nothing in the deleted area, whatever a file is called",
        arguments: ["noext", "f.txt", ".hidden", "a.b.c"])
    func scaffolding(_ name: String) throws {
        try Place.with { place in
            try place.mount()
            try shell("echo a > c/\(name); vim -u NONE -es -c 'normal Goz' -c wq c/\(name) < /dev/null", in: place.path)
            let deleted = try place.ctl("deleted", "c").text
            #expect(deleted == "Nothing deleted here.", "\(deleted)")
            try place.unmount()
        }
    }
}
