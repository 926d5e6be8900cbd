// A mistake in `config.toml`: it is named, what does not need the settings goes on, and it can be mended.

import Foundation
import Support
import Testing

@Suite struct SettingsMistakeTests {
    /// A container that was mounted once, with this for its settings.
    private func with(_ settings: String, _ body: (Place, _ file: String) throws -> Void) throws {
        try Place.with { place in
            try place.mount()
            try shell("echo two > c/f", in: place.path)
            try place.unmount()
            let file = place.path + "/c/.versionsfs/config.toml"
            try settings.write(toFile: file, atomically: false, encoding: .utf8)
            try body(place, file)
        }
    }

    @Test("A value that cannot be used is named with its file and key; config mends one after the other")
    func value() throws {
        try with("replace-wait = 5\nstale-writes = \"maybe\"\nunknown = 1\n[history]\nshare = \"lots\"\n") {
            place, file in
            expectError(try place.ctl("mount", "c"), file, "stale-writes is", "versionsctl config")
            let status = try place.ctl("status", "c")
            #expect(status.status == 0 && status.errors.isEmpty, "\(status.errors)")
            for word in [file, "stale-writes is", "history.share is", "replace-wait is"] {
                #expect(status.text.contains(word), "\(status.text)")
            }
            #expect(try place.ctl("check", "--container", "c").text.contains("clean"))
            let shown = try place.ctl("config", in: "c")
            #expect(
                shown.status == 0 && shown.text.contains("# wrong: stale-writes is"), "\(shown.errors) \(shown.text)")
            let mend = { (key: String, value: String) in try place.ctl("config", key, value, in: "c") }
            expectError(try mend("stale-writes", "perhaps"), "\"keep\"", "perhaps")
            for (key, value) in [("stale-writes", "merge"), ("history.share", "5%"), ("replace-wait", "1s")] {
                let set = try mend(key, value)
                #expect(set.status == 0 && set.errors.isEmpty, "\(key): \(set.errors)")
            }
            // What nobody knows stays where it was.
            #expect(try String(contentsOfFile: file, encoding: .utf8).contains("unknown = 1"))
            try place.mount()
            #expect(try place.ctl("config", "stale-writes", in: "c").text == "\"merge\"")
            #expect(try place.ctl("config", "history.share", in: "c").text == "\"5%\"")
        }
    }

    @Test("A file that is no TOML is named with its line, and is left alone")
    func syntax() throws {
        let text = "stale-writes = \"keep\"\nreplace-wait = = 2\n"
        try with(text) { place, file in
            expectError(try place.ctl("mount", "c"), file, "line 2", Told.correctFile)
            expectError(try place.ctl("config", in: "c"), file, "line 2", Told.correctFile)
            expectError(try place.ctl("config", "stale-writes", "merge", in: "c"), file, "line 2")
            #expect(try place.ctl("check", "--container", "c").text.contains("clean"))
            let status = try place.ctl("status", "c")
            #expect(status.status == 0 && status.text.contains("line 2"), "\(status.errors)")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        }
    }

    @Test("Every setting can be set, is shown as it was set, and stays over a remount")
    func every() throws {
        try Place.with { place in
            try place.mount()
            let values = [
                ("stale-writes", "\"refuse\""), ("replace-wait", "\"10m\""), ("plain-reads", "\"wait\""),
                ("scopes.documents", "[\"/\", \"/Letters\"]"), ("history.max-file", "\"2GiB\""),
                ("history.share", "\"20%\""),
                ("deleted.keep", "\"7d\""), ("deleted.share", "\"5GiB\""), ("ignore.patterns", "[\"*.iso\"]"),
                ("conflicts.quiet", "[\"*.log\"]"), ("actors.boundaries", "[\"tmux\"]"),
                ("packages.extensions", "[\"rtfd\", \".pages\"]"),
            ]
            let later = ["scopes.documents", "packages.extensions"]
            for (key, value) in values {
                let set = try place.ctl("config", key, value, in: "c")
                #expect(
                    set.status == 0 && set.errors.contains(Told.noEffectYet) == later.contains(key), "\(set.errors)")
            }
            try place.unmount()
            try place.mount()
            for (key, value) in values { #expect(try place.ctl("config", key, in: "c").text == value) }
            let all = try place.ctl("config", in: "c").text
            #expect(all.contains("= \"20%\"  # default: \"10%\"") && !all.contains("not set"), "\(all)")
        }
    }

    @Test("A value that cannot be set is told what kind of value it should be")
    func refused() throws {
        try Place.with { place in
            try place.mount()
            for (key, value, words) in [
                ("replace-wait", "5", "not \"5\""), ("replace-wait", "soon", "such as \"2s\""),
                ("history.share", "10", "such as \"10%\""), ("stale-writes", "true", "\"merge\""),
                ("ignore.patterns", "x", "list of texts"), ("nonsense", "x", "no setting nonsense"),
                ("plain-reads", "sometimes", "\"observe\" or \"wait\", not \"sometimes\""),
                ("replace-wait", "100h", "at most \"10m\""),
                ("replace-wait", "infs", "such as \"2s\""),
                ("history.share", "101%", "at most 100%"), ("history.max-file", "1e30GiB", "a size such as"),
                ("deleted.keep", "9999999999d", "a time such as"),
                ("scopes.documents", "[\"Letters\"]", "not \"Letters\""),
                ("scopes.documents", "[\"/../x\"]", "paths from the root"),
                ("packages.extensions", "[\"a/b\"]", "not \"a/b\""),
                ("packages.extensions", "[1]", "list of texts"), ("conflicts.quiet", "[\"\"]", "patterns"),
                ("actors.boundaries", "[\"/usr/bin/tmux\"]", "names of programs"),
            ] { expectError(try place.ctl("config", key, value, in: "c"), words) }
            #expect(try place.ctl("config", "replace-wait", in: "c").text == "\"2s\"")
        }
    }
}
