// What a user stumbled over: promises that did not hold in a corner, and words that led nowhere.

import Foundation
import Support
import Testing

@Suite struct LooseEndTests {
    private func versions(_ place: Place, _ path: String) throws -> Int {
        try place.ctl("history", path, "--json").text.components(separatedBy: "\"kind\"").count - 1
    }

    @Test("What is not ignored any more has versions from its next opening on")
    func ignoredNoMore() throws {
        try Place.with { place in
            try place.mount()
            _ = try place.ctl("config", "ignore.patterns", "[\"*.yy\"]", in: "c")
            try shell("echo 1 > c/s.yy; echo 1 > c/t.yy", in: place.path)
            let none = try place.ctl("history", "c/s.yy")
            #expect(none.status == 0 && none.text.contains("ignore.patterns"), "\(none.text)")
            _ = try place.ctl("config", "ignore.patterns", "[]", in: "c")
            try shell("echo 2 > c/s.yy; echo 3 > c/s.yy; echo 2 > c/new; mv c/new c/t.yy", in: place.path)
            #expect(try versions(place, "c/s.yy") == 3)
            #expect(try versions(place, "c/t.yy") >= 1)
            let line = "echo '*.zz' > .versionsignore; echo 1 > s.zz; rm .versionsignore; echo 2 > s.zz"
            try shell(line, in: place.path + "/c")
            #expect(try versions(place, "c/s.zz") == 2)
        }
    }

    @Test("What was renamed or removed while it was not mounted keeps its history")
    func renamedUnmounted() throws {
        try Place.with { place in
            try place.mount()
            try shell("mkdir d; for f in a b d/x; do echo 1 > $f; echo 2 > $f; done", in: place.path + "/c")
            try place.unmount()
            try shell("cd c; mv a a2; rm b; rm -r d", in: place.path)
            try place.mount()
            #expect(try versions(place, "c/a2") == 2)
            let deleted = try place.ctl("deleted", "c", "--all").text
            for name in ["c/b", "c/d", "c/d/x"] { #expect(deleted.contains(name), "\(deleted)") }
            #expect(try place.ctl("undelete", "b", in: "c").status == 0)
            #expect(try place.ctl("undelete", "d", in: "c").status == 0)
            // A file that is removed beneath the mount takes its content along. Where its last close was told of late,
            // a copy of that content was made, and is given back.
            for name in ["b", "d/x"] {
                let text = try shell("cat \(name)", in: place.path + "/c").text
                #expect(["1", "2"].contains(text), "\(name): \(text)")
            }
            #expect(try place.ctl("check", "c").text.contains("clean"))
        }
    }

    @Test("What restore brings back from the deleted area is told, not that nothing was to do")
    func restoredFromDeleted() throws {
        try Place.with { place in
            try place.mount()
            try shell("echo 1 > f; rm f", in: place.path + "/c")
            let output = try place.ctl("restore", "f", in: "c")
            #expect(output.status == 0 && output.text.hasPrefix("Restored f as saved at"), "\(output)")
            #expect(try shell("cat f", in: place.path + "/c").text == "1")
        }
    }

    @Test("A name in config.toml that is no setting is told of, and the container is mounted")
    func misspelt() throws {
        try Place.with { place in
            try place.mount()
            try place.unmount()
            let file = place.path + "/c/.versionsfs/config.toml"
            let text = "stale-wites = \"merge\"\n[history]\nshares = \"5%\"\n"
            try text.write(toFile: file, atomically: false, encoding: .utf8)
            let mounted = try place.ctl("mount", "c")
            #expect(mounted.status == 0 && mounted.errors.contains("no setting stale-wites"), "\(mounted.errors)")
            let status = try place.ctl("status", "c").text
            for key in ["stale-wites", "history.shares"] { #expect(status.contains("no setting \(key)"), "\(status)") }
        }
    }

    @Test("Commands in a row find a container that is not mounted free")
    func offlineInARow() throws {
        try Place.with { place in
            try place.mount()
            try place.unmount()
            for round in 0..<15 {
                for output in [try place.ctl("status", "c"), try place.ctl("config", "--container", "c")] {
                    #expect(output.status == 0, "round \(round): \(output.errors)")
                }
            }
        }
    }

    @Test("Of a mountpoint that holds another container its own name is told")
    func takenMountpoint() throws {
        try Place.with { place in
            try shell("mkdir x", in: place.path)
            try place.mount()
            let output = try place.ctl("mount", "x", "c")
            expectError(output, Told.alreadyMounted)
            #expect(output.errors.contains("c: already mounted"), "\(output.errors)")
        }
    }

    @Test("A .versions from before the mount is what is there, and can be removed")
    func ownVersions() throws {
        try Place.with { place in
            try shell("mkdir -p c/d/.versions; echo mine > c/d/.versions/f", in: place.path)
            try place.mount()
            #expect(try shell("ls -A c/d; cat c/d/.versions/f", in: place.path).text == ".versions\nmine")
            try shell("rm -r c/d/.versions; echo 1 > c/d/g; echo 2 > c/d/g", in: place.path)
            #expect(try shell("ls c/d/.versions/g", in: place.path).text.contains("history"))
            #expect(try run("rmdir", [place.path + "/c/d/.versions"]).status != 0)
        }
    }

    @Test("Who may not read a file is told so of its history")
    func historyOfOthers() throws {
        guard geteuid() == 0 else { return }
        try Place.with { place in
            try shell("chmod 755 . c", in: place.path)
            try place.mount("c", "allow_other")
            try shell("echo 1 > c/secret; chmod 600 c/secret; echo 2 > c/secret", in: place.path)
            expectError(try place.ctl("history", "c/secret", asUser: 65534), "permission denied")
        }
    }

    @Test("A reader that has enough ends watch and query --live as it ends others")
    func enough() throws {
        try Place.with { place in
            try place.mount()
            try shell("for i in 1 2 3; do echo $i > c/g$i; done", in: place.path)
            for command in ["watch --after 0", "query --live"] {
                let line = "$CTL \(command) | head -c 1 > /dev/null; echo ${PIPESTATUS[0]}"
                // Changes to tell of come until it has ended.
                let changes = "(for i in {1..40}; do echo $i > h$i; sleep 0.1; done) & changes=$!"
                let bash = try place.bash("cd c; \(changes); \(line); kill $changes; wait")
                #expect(bash.text.hasSuffix("141") && bash.errors.isEmpty, "\(command): \(bash.text) \(bash.errors)")
            }
        }
    }

    @Test("A name that looks like an id is undeleted")
    func hexName() throws {
        try Place.with { place in
            try place.mount()
            try shell("echo 1 > c/0123456789ab; rm c/0123456789ab", in: place.path)
            let output = try place.ctl("undelete", "0123456789ab", in: "c")
            #expect(output.status == 0 && output.text.contains("0123456789ab"), "\(output.errors)")
            #expect(try shell("cat c/0123456789ab", in: place.path).text == "1")
            expectError(try place.ctl("undelete", "0123456789ac", in: "c"), "no version, item or deletion")
            // Also where something has that id, as among thousands of items something has.
            struct Version: Decodable { var item: String }
            try shell("echo live > c/live", in: place.path)
            let live = try JSONDecoder().decode(Version.self, from: Data(place.ctl("show", "c/live", "--json").stdout))
            let name = String(live.item.prefix(6))
            try shell("echo 2 > c/\(name); rm c/\(name)", in: place.path)
            let named = try place.ctl("undelete", name, in: "c")
            #expect(named.status == 0 && named.text == "Undeleted \(name).", "\(named.errors)")
        }
    }

    @Test("Times and files that --at cannot take are answered with what it can")
    func wrongTimes() throws {
        try Place.with { place in
            try place.mount()
            expectError(try place.ctl("restore", "c/f", "--at", "2h"), Told.noHistory, Told.earliest)
            let wrong = try place.ctl("restore", "c", "--at", "yesterdayish")
            #expect(wrong.status == 64 && wrong.errors.contains("RFC 3339"), "\(wrong.errors)")
            let help = try place.ctl("restore", "--help").text.split(whereSeparator: \.isWhitespace)
                .joined(separator: " ")
            #expect(help.contains("--at <time>"))
        }
    }

    @Test("What coordinate warns of is named as it was typed")
    func warnedPaths() throws {
        try Place.with { place in
            try shell("mkdir c/cf; echo 1 > c/cf/m.txt", in: place.path)
            try place.mount()
            let line = "cd c/cf; $CTL coordinate write m.txt -- bash -c '$CTL claims; (setsid -w rm m.txt)'"
            let bash = try place.bash(line)
            #expect(!bash.errors.contains("cf/m.txt") && !bash.text.contains("cf/m.txt"), "\(bash.text) \(bash.errors)")
            #expect(bash.text.contains("m.txt"), "\(bash.text) \(bash.errors)")
        }
    }
}
