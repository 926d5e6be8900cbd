// A call through the mount is carried out on the file that the kernel has looked up, also if another file has taken its
// name below: with `source-open` every program may change names there.

import CTestSupport
import Foundation
import Support
import Testing

@Suite(.enabled(if: geteuid() == 0, "mounting elsewhere for others needs root"))
struct ExchangedFileTests {
    @Test("A name that has become a symlink, another file or a FIFO below leads nobody there")
    func exchanged() throws {
        try Place.with { place in
            guard mkdir(place.path + "/m", 0o755) == 0 else { throw Failure.call("mkdir") }
            let mounted = try place.ctl("mount", "c", "m", "-o", "source-open")
            #expect(mounted.status == 0, "\(mounted.errors)")
            let output = try run(
                "/usr/bin/python3",
                ["-c", ExchangedFileScript.text, place.path + "/c", place.path + "/m", place.path], seconds: 120)
            let lines = output.text.split(separator: "\n").map(String.init)
            #expect(lines.count == 42, "\(lines) \(output.errors)")
            for line in lines { #expect(line.hasSuffix(": ESTALE"), "\(line)") }
            let ended = try place.ctl("unmount", "m")
            #expect(ended.status == 0, "\(ended.errors)")
        }
    }

    @Test("A directory that has become a symlink below leads no operation there, and a FIFO holds nobody up")
    func walks() throws {
        try Place.with { place in
            try shell("mkdir m out c/d; echo one > c/d/f; echo secret > out/f; echo one > c/g", in: place.path)
            #expect(try place.ctl("mount", "c", "m", "-o", "source-open").status == 0)
            try shell("echo two > m/d/f; echo two > m/g; ls -R m", in: place.path)
            try shell("mv c/d c/away; ln -s ../out c/d; mv c/g c/h; mkfifo c/g", in: place.path)
            for words in [
                ["history", "m/d/f"], ["show", "m/d/f"], ["restore", "m/d/f", "--version", "current"],
                ["show", "m/g"], ["restore", "m/g", "--version", "current"], ["history", "m/g"], ["space", "m"],
                ["check", "m"],
            ] {
                let output = try run(Workplace.control, words, in: place.path, seconds: 30)
                #expect(!output.text.contains("secret"), "\(words): \(output.text)")
                #expect(output.status < 100, "\(words): \(output.errors)")
            }
            #expect(try String(contentsOfFile: place.path + "/out/f", encoding: .utf8) == "secret\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: place.path + "/out") == ["f"])
            // Saved files are synchronized at the end, as far as they are still there.
            let ended = try place.ctl("unmount", "m", "--json")
            #expect(ended.text.contains("\"ended\" : true"), "\(ended.text) \(ended.errors)")
        }
    }
}
