// Mistakes of people at a terminal: the message leads to a command that works.

import Foundation
import Support
import Testing

@Suite struct MistakeTests {
    @Test("Of a directory resolve names the commands that list and settle the conflicts in it")
    func resolvedDirectory() throws {
        try Place.with { place in
            try place.mount()
            try shell("mkdir c/d; echo 1 > c/d/f", in: place.path)
            #expect(try place.ctl("simulate", "conflict", "c/d/f").status == 0)
            for options in [[], ["--newest"], ["--keep", "current"]] {
                let output = try run(Workplace.control, ["resolve", "c/d"] + options, in: place.path)
                expectError(
                    output, "c/d: is a directory", "`versionsctl conflicts c/d`",
                    "`versionsctl resolve --all --newest c/d`")
            }
            let all = try place.ctl("resolve", "--all", "--newest", "c/d")
            #expect(all.text.contains("Resolved c/d/f"), "\(all)")
            try place.unmount()
        }
    }

    @Test("What is nowhere, and a deleted directory, are told apart from what has nothing to come back")
    func deleted() throws {
        try Place.with { place in
            try place.mount()
            try shell("mkdir c/k; echo 1 > c/k/x; rm -r c/k", in: place.path)
            expectError(try place.ctl("deleted", "c/none"), "c/none: no such file or directory", "versionsctl deleted")
            expectError(try place.ctl("undelete", "7ab", in: "c"), "7ab: nothing deleted has this name", "four digits")
            expectError(
                try place.ctl("restore", "c/k"), "c/k: is a deleted directory", "`versionsctl undelete c/k` brings it")
            let listed = try place.ctl("deleted", "c/k")
            #expect(listed.status == 0 && listed.text.contains("c/k"), "\(listed)")
            let back = try place.ctl("undelete", "c/k")
            #expect(back.status == 0, "\(back.errors)")
            #expect(try shell("cat c/k/x", in: place.path).text == "1")
            try place.unmount()
        }
    }

    @Test("A name that is nowhere has no conflict to resolve, and unmounts nothing")
    func nowhere() throws {
        try Place.with { place in
            try place.mount()
            try shell("echo 1 > c/f; echo 2 > c/gone; rm c/gone", in: place.path)
            expectError(try place.ctl("resolve", "c/f", "--newest"), "c/f: no conflict to resolve")
            expectError(try place.ctl("resolve", "c/nope", "--newest"), "c/nope: no such file", "versionsctl conflicts")
            expectError(try place.ctl("unmount", "c/nope"), "c/nope: no such file", "versionsctl list")
            #expect(try place.ctl("status", "c").text.hasPrefix("mounted"))
            try place.unmount()
        }
    }

    @Test("A time before the container is answered with one that can be typed as it is printed")
    func earliest() throws {
        try Place.with { place in
            try place.mount()
            try shell("echo two > c/g; echo three > c/g", in: place.path)
            for words in [["diff", "g"], ["restore", "g"], ["restore", "."]] {
                let early = try run(Workplace.control, words + ["--at", "1 hour ago"], in: place.path + "/c")
                expectError(early, Told.noHistory, Told.earliest)
                let time = early.errors.components(separatedBy: "'").dropFirst().first ?? ""
                let then = try run(Workplace.control, words + ["--at", time], in: place.path + "/c")
                #expect(then.status == 0, "\(words) --at \(time): \(then.errors)")
            }
            try place.unmount()
        }
    }

    @Test("mount says what is mounted, and of processes beneath it names no versionsfs, which ends by itself")
    func mounted() throws {
        try Place.with { place in
            try shell("mkdir m", in: place.path)
            let ending = try ActorProcess("versionsfs", in: place.path)
            try ending.must("cd", place.path + "/c")
            let output = try place.ctl("mount", "c")
            #expect(output.text == "Mounted \(place.path)/c.", "\(output)")
            #expect(output.errors.isEmpty, "\(output.errors)")
            try ending.must("cd", "/")
            try place.unmount()
            let elsewhere = try place.ctl("mount", "c", "m")
            #expect(elsewhere.text == "Mounted \(place.path)/c at \(place.path)/m.", "\(elsewhere)")
            try place.unmount("m")
        }
    }

    @Test("On a terminal the notes of status and the values of config end at words")
    func terminal() throws {
        try Place.with { place in
            try place.mount()
            try shell("for n in 1 2 3 4 5 6 7 8; do echo \"*.number-$n\"; done > c/.versionsignore", in: place.path)
            for command in ["status", "config"] {
                let line = "stty cols 80; \(Workplace.control) \(command)"
                let output = try run(
                    "script", ["-qec", line, "/dev/null"], in: place.path + "/c", environment: ["NO_COLOR": "1"])
                // Of what cannot be split, as a path, a line may be longer.
                let lines = output.text.split(whereSeparator: \.isNewline).filter { line in
                    !line.contains(place.path) && !line.hasPrefix("log  ")
                }
                #expect(lines.count > 8 && lines.allSatisfy { $0.count <= 80 }, "\(output.text)")
            }
            try place.unmount()
        }
    }

    @Test("The help of versionsfs has lines of 80 columns at most")
    func help() throws {
        let output = try run(Workplace.daemon, ["--help"])
        #expect(output.status == 0 && output.text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(output)")
    }
}
